// npm run packages [-- FOLDER]: everything that a release offers, made from `npm pack`, package.json and the manifest alone.
// The same source makes the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { debianPackage, rpmPackage } from './packages/linux.mjs';
import { manPages } from './packages/man.mjs';
import { flake, formula, pkgbuild, srcinfo } from './packages/recipes.mjs';
import { scoopManifest, wingetManifests, windowsInstaller } from './packages/windows.mjs';

const ROOT = resolve(fileURLToPath(import.meta.url), '..', '..');
/** The time that npm gives to every file in a package, in seconds. */
const EPOCH = '499162500';
/** What these packages are made with, and the Debian package of each. */
const TOOLS = { 'dpkg-deb': 'dpkg', rpmbuild: 'rpm', makensis: 'nsis', tar: 'tar' };

const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

for (const [tool, debian] of Object.entries(TOOLS)) {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' });
  } catch {
    console.error(`${tool} is not installed (Debian package: ${debian}).`);
    process.exit(8);
  }
}

const out = resolve(process.argv[2] ?? join(ROOT, 'packages'));
const work = mkdtempSync(join(tmpdir(), 'steward-packages-'));
try {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const product = read('package.json');
  // The only address, from which npm derives its others, too.
  make({ ...product, homepage: product.repository.url.replace(/^git\+|\.git$/g, '') });
} finally {
  rmSync(work, { recursive: true, force: true });
}

function make(product) {
  const { version } = product;
  const npm = run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', out]).trim();
  run('tar', ['-xzf', join(out, npm), '-C', work]);
  const share = `steward-${version}-share.tar.gz`;
  writeFileSync(join(out, share), shareArchive(product));

  const release = {
    product,
    npm: asset(product, npm),
    share: asset(product, share),
    program: join(work, 'package'),
    extras: join(work, 'share'),
    work,
    out,
    run,
    write,
  };
  debianPackage(release);
  rpmPackage(release);
  const setup = asset(product, windowsInstaller(release));
  for (const [name, text] of Object.entries({
    'Formula/steward.rb': formula(release),
    'aur/PKGBUILD': pkgbuild(release),
    'aur/.SRCINFO': srcinfo(release),
    'flake.nix': flake(release),
    'scoop/steward.json': scoopManifest(release),
    ...wingetManifests(release, setup),
  }))
    write(join(out, name), text);

  const files = readdirSync(out, { withFileTypes: true }).filter((entry) => entry.isFile());
  const sums = files.map(({ name }) => `${sha256(readFileSync(join(out, name)))}  ${name}\n`);
  write(join(out, 'SHA256SUMS'), sums.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join(''));
  console.log(`${out}: ${files.length} files to download, and the recipes that name them`);
}

/** A file of the release: its name, its address and its SHA-256. */
function asset({ version, homepage }, name) {
  const content = readFileSync(join(out, name));
  return { name, url: `${homepage}/releases/download/v${version}/${name}`, sha256: sha256(content) };
}

/** What the package of a system installs beside the program: man pages and completion. */
function shareArchive(product) {
  for (const [name, text] of manPages(read('oclif.manifest.json'), product))
    write(join(work, 'share', 'man', 'man1', name), text);
  const completion = {
    bash: 'bash-completion/completions/steward',
    zsh: 'zsh/site-functions/_steward',
    fish: 'fish/vendor_completions.d/steward.fish',
  };
  for (const [shell, path] of Object.entries(completion)) {
    const steward = join(work, 'package', 'bin', 'run.js');
    write(join(work, 'share', path), run(process.execPath, [steward, 'completion', shell]));
  }
  const same = [
    '--sort=name',
    `--mtime=@${EPOCH}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
  ];
  return gzipSync(run('tar', [...same, '-C', work, '-c', 'share'], { encoding: 'buffer' }), { level: 9 });
}

/** Runs a program and returns what it printed. What it says on stderr is shown only if it fails. */
function run(program, args, options = {}) {
  const env = { ...process.env, HOME: work, SOURCE_DATE_EPOCH: EPOCH };
  return execFileSync(program, args, {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function sha256(content) {
  return createHash('sha256').update(content).digest('hex');
}
