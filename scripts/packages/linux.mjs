// The packages of Debian, Ubuntu, Fedora and openSUSE: the program in /usr/lib/steward, its man pages and its completion.
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const SUMMARY = 'your day, your coding agents and what waits for you';

/** Makes steward_VERSION_all.deb. */
export function debianPackage(release) {
  const { product, work, out, run, write } = release;
  const root = join(work, 'deb');
  systemTree(release, root, {
    'share/zsh/site-functions': 'share/zsh/vendor-completions',
    'share/doc/steward/LICENSE': 'share/doc/steward/copyright',
  });
  const size = filesOf(root).reduce((sum, path) => sum + readFileSync(path).length, 0);
  write(
    join(root, 'DEBIAN', 'control'),
    `Package: steward
Version: ${product.version}
Section: utils
Priority: optional
Architecture: all
Depends: nodejs (>= ${nodeFloor(product)})
Recommends: git
Suggests: gh, tmux
Installed-Size: ${Math.ceil(size / 1024)}
Maintainer: ${product.author} <${product.homepage}>
Homepage: ${product.homepage}
Description: ${SUMMARY}
 ${product.description}
`,
  );
  withModes(root);
  run('dpkg-deb', [
    '--root-owner-group',
    '-Zxz',
    '--build',
    root,
    join(out, `steward_${product.version}_all.deb`),
  ]);
}

/** Makes steward-VERSION-1.noarch.rpm. */
export function rpmPackage(release) {
  const { product, work, out, run, write } = release;
  const top = join(work, 'rpm');
  const root = join(work, 'rpm-tree');
  systemTree(release, root, { 'share/doc/steward/LICENSE': 'share/licenses/steward/LICENSE' });
  withModes(root);
  write(
    join(top, 'steward.spec'),
    `Name: steward
Version: ${product.version}
Release: 1
Summary: ${SUMMARY[0].toUpperCase()}${SUMMARY.slice(1)}
License: ${product.license}
URL: ${product.homepage}
BuildArch: noarch
AutoReqProv: no
Requires: nodejs(engine) >= ${nodeFloor(product)}
Recommends: git

%description
${product.description}

%install
cp -a '${root}/.' '%{buildroot}/'

%files
/usr/bin/steward
/usr/lib/steward
/usr/share/man/man1/*
/usr/share/bash-completion/completions/steward
/usr/share/zsh/site-functions/_steward
/usr/share/fish/vendor_completions.d/steward.fish
%license /usr/share/licenses/steward/LICENSE
`,
  );
  const settings = {
    _topdir: top,
    _rpmdir: out,
    _rpmfilename: '%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm',
    _buildhost: 'localhost',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
    _binary_payload: 'w9.xzdio',
    // Nothing that rpm would do to the files: they are as npm packed them.
    __os_install_post: '%{nil}',
  };
  const defined = Object.entries(settings).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
  run('rpmbuild', ['-bb', '--quiet', ...defined, join(top, 'steward.spec')]);
}

/** Lays out /usr below `root`. Some paths differ between systems: `moved` names them. */
function systemTree({ program, extras }, root, moved) {
  const usr = join(root, 'usr');
  const lib = join(usr, 'lib', 'steward');
  cpSync(program, lib, { recursive: true });
  mkdirSync(join(usr, 'bin'), { recursive: true });
  symlinkSync('../lib/steward/bin/run.js', join(usr, 'bin', 'steward'));
  cpSync(extras, join(usr, 'share'), { recursive: true });
  const licence = readFileSync(join(program, 'LICENSE'), 'utf8');
  const bundled = '/usr/lib/steward/dist/THIRD-PARTY-LICENSES.txt';
  const doc = join(usr, 'share', 'doc', 'steward');
  mkdirSync(doc, { recursive: true });
  writeFileSync(
    join(doc, 'LICENSE'),
    `${licence}\nThe packages in steward have their own licences: ${bundled}\n`,
    {
      mode: 0o644,
    },
  );
  for (const [from, to] of Object.entries(moved)) {
    mkdirSync(dirname(join(usr, to)), { recursive: true });
    cpSync(join(usr, from), join(usr, to), { recursive: true });
    rmSync(join(usr, from), { recursive: true });
  }
  const man = join(usr, 'share', 'man', 'man1');
  for (const name of readdirSync(man)) {
    const page = readFileSync(join(man, name));
    writeFileSync(join(man, `${name}.gz`), gzipSync(page, { level: 9 }));
    rmSync(join(man, name));
  }
}

/** Everybody may read the files, whatever umask made them; only what starts with #! can be run. */
function withModes(root) {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else if (entry.isFile())
      chmodSync(path, readFileSync(path).subarray(0, 2).toString() === '#!' ? 0o755 : 0o644);
  }
  chmodSync(root, 0o755);
}

function filesOf(root) {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const nodeFloor = ({ engines }) => engines.node.replace('>=', '');
