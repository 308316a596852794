import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';

import { commands } from '../../oclif.manifest.json';
import { version } from '../../package.json';
import { desktopKit, startXvfb } from '../helpers/desktop-kit';
import { inFreshRoot, requireFreshRoot } from '../helpers/fresh-root';
import { requirePrograms } from '../helpers/real-part';
import { removeFolder } from '../helpers/scratch';
import { requireWine, runWine, startWine, stopWine } from '../helpers/wine';

const REPO = join(__dirname, '..', '..');
const NPM = `steward-cli-${version}.tgz`;
const SHARE = `steward-${version}-share.tar.gz`;

/** What a person tries after an installation, and what takes it back. */
const TRIED = `
as_ada steward --version
as_ada mkdir /home/ada/.claude
as_ada steward up --yes --once
as_ada steward doctor --json >/tmp/doctor.json
as_ada steward install hooks
as_ada steward demo -- sessions
`;

/** The way out, after an upgrade: the hook still finds both, also where an assistant starts it without a PATH. */
const LEFT = `
for file in $(as_ada env -u PATH /home/ada/.steward/bin/steward-hook --where); do test -f $file && echo "found $file"; done
as_ada steward uninstall --purge --yes
rm /tmp/doctor.json
`;

describe('the packages of a release', function () {
  this.timeout(600_000);
  let root: string;
  let made: string;

  before(function () {
    if (process.platform !== 'linux') this.skip();
    requirePrograms(this, { 'dpkg-deb': 'dpkg', rpmbuild: 'rpm', makensis: 'nsis' });
    root = mkdtempSync(join(tmpdir(), 'steward-packages-'));
    made = join(root, 'made');
    make(made, '022');
  });

  after(() => {
    if (root !== undefined) removeFolder(root);
  });

  function make(folder: string, umask: string): void {
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `umask ${umask} && exec node scripts/packages.mjs "$1"`, 'sh', folder],
      { cwd: REPO, encoding: 'utf8' },
    );
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  }

  const text = (name: string): string => readFileSync(join(made, name), 'utf8');

  function check(program: string, args: string[]): void {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    expect(status, `${program} ${args.join(' ')}: ${stdout}${stderr}`).to.equal(0);
  }

  it('take every address from the one in package.json', () => {
    const [address, ...others] =
      readFileSync(join(REPO, 'package.json'), 'utf8').match(/github\.com[^"]*/g) ?? [];
    expect(others).to.deep.equal([]);
    for (const name of ['Formula/steward.rb', 'aur/PKGBUILD', 'flake.nix', 'scoop/steward.json'])
      expect(text(name)).to.match(new RegExp(`["']https://${address?.replace('.git', '')}["']`));
  });

  it('are the same bytes again, whatever the umask', () => {
    const again = join(root, 'again');
    make(again, '077');
    expect(spawnSync('diff', ['-r', made, again], { encoding: 'utf8' }).stdout).to.equal('');
  });

  it('are listed with their checksums', () => {
    const listed = text('SHA256SUMS')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.slice(66));
    const there = readdirSync(made, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(listed).to.have.members(there.map(({ name }) => name).filter((name) => name !== 'SHA256SUMS'));
    const { status } = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: made });
    expect(status).to.equal(0);
  });

  describe('in a fresh root', () => {
    beforeEach(function () {
      requireFreshRoot(this);
    });

    /** Each ends with nothing of steward on the disk. */
    const ways: Record<string, { install: string; upgrade?: string; remove: string }> = {
      deb: {
        install: `dpkg --ignore-depends=nodejs -i /given/steward_${version}_all.deb`,
        remove: 'dpkg --purge steward',
      },
      rpm: {
        install: `rpm --dbpath /var/lib/rpm --install --nodeps /given/steward-${version}-1.noarch.rpm`,
        remove: 'rpm --dbpath /var/lib/rpm --erase --nodeps steward',
      },
      'AUR, its function in plain bash': {
        install: `
srcdir=/tmp/src pkgdir=/tmp/pkg
mkdir $srcdir
cp /given/${NPM} $srcdir/
tar -xzf /given/${SHARE} -C $srcdir
. /given/aur/PKGBUILD
(HOME=/tmp/npm-home; package >/dev/null)
(cd $pkgdir && find . ! -type d) >/tmp/installed
cp -a $pkgdir/. /
rm -r /tmp/src /tmp/pkg /tmp/npm-home 2>/dev/null || true
`,
        remove: '(cd / && xargs rm </tmp/installed); rm /tmp/installed',
      },
      'Homebrew, its steps by npm': {
        install: `
mkdir -p /opt/Cellar/steward
HOME=/tmp npm install --global --offline --no-audit --no-fund --cache /tmp/cache --prefix /opt/Cellar/steward/1 /given/${NPM} >/dev/null
ln -s Cellar/steward/1 /opt/steward
ln -s /opt/steward/bin/steward /usr/local/bin/steward
tar -xzf /given/${SHARE} -C /opt/steward
mkdir -p /usr/local/share/man/man1
ln -s /opt/steward/share/man/man1/* /usr/local/share/man/man1/
`,
        upgrade: `
mv /opt/Cellar/steward/1 /opt/Cellar/steward/2
ln -sfn Cellar/steward/2 /opt/steward
`,
        remove:
          'rm -r /opt/steward /opt/Cellar /tmp/cache /tmp/.npm /usr/local/bin/steward /usr/local/share/man/man1/steward* 2>/dev/null || true',
      },
    };
    for (const [name, { install, upgrade = '', remove }] of Object.entries(ways)) {
      it(`${name}: installs, runs, has its manual and completion, and leaves nothing`, async () => {
        const script = `${install}
ls /usr/share/man/man1 /usr/local/share/man/man1 2>/dev/null | grep -c '^steward-notify-send.1'
${TRIED}
${upgrade}
${LEFT}
${remove}`;
        const { code, output, left } = await inFreshRoot(mkdtempSync(join(root, 'fresh-')), made, script);
        expect(code, output).to.equal(0);
        expect(output).to.include(`steward ${version}`).and.to.include('payments·refunds');
        expect(output.match(/^found .*\/(node|run\.js|steward)$/gm), output).to.have.length(2);
        // The player of a sound that doctor tried keeps a folder of its own.
        expect(left.filter((path) => !path.includes('/.config/pulse/'))).to.deep.equal([]);
      });
    }
  });

  it('has an installer for Windows, for one person, that takes everything back', async function () {
    requireWine(this);
    const kit = desktopKit();
    try {
      await startXvfb(kit);
      startWine(kit);
      runWine(kit, [join(made, `steward-${version}-setup.exe`), '/S']);
      const users = join(kit.home, 'prefix/drive_c/users');
      const [person = ''] = readdirSync(users).filter((name) => name !== 'Public');
      const local = join(users, person, 'AppData/Local');
      const command = readFileSync(join(local, 'Microsoft/WindowsApps/steward.cmd'), 'utf8');
      expect(command).to.equal('@node "%LOCALAPPDATA%\\Programs\\steward\\bin\\run.js" %*\r\n');

      // test/platforms/windows.test.ts runs the same files.
      const folder = `C:\\users\\${person}\\AppData\\Local\\Programs\\steward`;
      const installed = (name: string): string => readFileSync(join(local, 'Programs/steward', name), 'utf8');
      for (const name of ['bin/run.js', 'dist/build-id', 'package.json'])
        expect(installed(name), name).to.equal(readFileSync(name, 'utf8'));

      // `_?=` keeps the uninstaller from continuing in a copy of itself, which nobody could wait for.
      runWine(kit, [`${folder}\\uninstall.exe`, '/S', `_?=${folder}`]);
      expect(readdirSync(join(local, 'Microsoft/WindowsApps'))).to.deep.equal([]);
      expect(readdirSync(join(local, 'Programs/steward'))).to.deep.equal(['uninstall.exe']);
    } finally {
      stopWine(kit);
      await kit.stop();
    }
  });

  it('runs from npx without a registry', () => {
    const { status, stdout, stderr } = spawnSync(
      'npx',
      ['--yes', '--offline', '--package', join(made, NPM), 'steward', '--version'],
      {
        cwd: root,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: join(root, 'home'), npm_config_update_notifier: 'false' },
      },
    );
    expect(stderr).to.equal('');
    expect(stdout).to.equal(`steward ${version}\n`);
    expect(status).to.equal(0);
  });

  it('has recipes that their own parsers read', function () {
    requirePrograms(this, { ruby: 'ruby', 'nix-instantiate': 'nix-bin' });
    check('ruby', ['-c', join(made, 'Formula/steward.rb')]);
    check('nix-instantiate', ['--parse', join(made, 'flake.nix')]);
    check('bash', ['-n', join(made, 'aur/PKGBUILD')]);
  });

  it('tells the AUR what its PKGBUILD says', () => {
    const names = [
      'pkgdesc',
      'pkgver',
      'pkgrel',
      'url',
      'arch',
      'license',
      'makedepends',
      'depends',
      'optdepends',
    ];
    names.push('noextract', 'source', 'sha256sums');
    const script = `. "$1"; for name in ${names.join(' ')}; do eval "for value in \\"\\\${$name[@]}\\"; do printf '\\t%s = %s\\n' $name \\"\\$value\\"; done"; done`;
    const { stdout } = spawnSync('bash', ['-c', script, 'bash', join(made, 'aur/PKGBUILD')], {
      encoding: 'utf8',
    });
    expect(text('aur/.SRCINFO')).to.equal(`pkgbase = steward\n${stdout}\npkgname = steward\n`);
  });

  it('names the files of the release, by their checksums, in each recipe', () => {
    const sums = new Map(
      text('SHA256SUMS')
        .split('\n')
        .filter(Boolean)
        .map((line) => [line.slice(66), line.slice(0, 64)] as const),
    );
    for (const recipe of ['Formula/steward.rb', 'aur/PKGBUILD', 'scoop/steward.json'])
      expect(text(recipe), recipe).to.include(sums.get(NPM)).and.to.include('/releases/download/v');
    for (const recipe of ['Formula/steward.rb', 'aur/PKGBUILD'])
      expect(text(recipe), recipe).to.include(sums.get(SHARE));
    const base64 = Buffer.from(sums.get(NPM) ?? '', 'hex').toString('base64');
    expect(text('flake.nix')).to.include(`sha256-${base64}`);
    const installer = parse(text('winget/Steward.Steward.installer.yaml')) as {
      Installers: { InstallerUrl: string; InstallerSha256: string }[];
    };
    const [first] = installer.Installers;
    expect(first?.InstallerSha256.toLowerCase()).to.equal(sums.get(`steward-${version}-setup.exe`));
    expect(first?.InstallerUrl).to.match(/\.exe$/);
  });

  it('has a man page for each command, that its own parser reads', function () {
    requirePrograms(this, { mandoc: 'mandoc' });
    check('tar', ['-xzf', join(made, SHARE), '-C', root]);
    const pages = readdirSync(join(root, 'share/man/man1')).map((name) => join(root, 'share/man/man1', name));
    const shown = Object.values(commands as Record<string, { hidden?: boolean }>).filter(
      ({ hidden }) => !hidden,
    );
    expect(pages).to.have.length(shown.length + 1);
    const { stdout } = spawnSync('mandoc', ['-T', 'lint', ...pages], { encoding: 'utf8' });
    // A page without a date is the same page tomorrow, and roff folds long lines.
    const said = stdout.split('\n').filter((line) => !/^$|missing date|input text line longer/.test(line));
    expect(said).to.deep.equal([]);
  });
});
