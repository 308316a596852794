// Windows: an installer for one person, which winget takes (it takes no scripts), and the manifests of winget and Scoop.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

const IDENTIFIER = 'Steward.Steward';
const SCHEMA = '1.10.0';
/** Starts steward from a file beside bin, and from anywhere. */
const START = {
  beside: '@node "%~dp0bin\\run.js" %*',
  away: '@node "%LOCALAPPDATA%\\Programs\\steward\\bin\\run.js" %*',
};

/**
 * Makes steward-VERSION-setup.exe and returns its name. It needs no administrator: the program goes to the person's
 * Programs folder, the command to the folder that Windows keeps on everybody's PATH.
 */
export function windowsInstaller({ product, program, work, out, run }) {
  const name = `steward-${product.version}-setup.exe`;
  const key = 'Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\steward';
  const command = '$LOCALAPPDATA\\Microsoft\\WindowsApps\\steward.cmd';
  const values = {
    DisplayName: 'steward',
    DisplayVersion: product.version,
    Publisher: product.author,
    URLInfoAbout: product.homepage,
    UninstallString: '"$INSTDIR\\uninstall.exe"',
    QuietUninstallString: '"$INSTDIR\\uninstall.exe" /S',
  };
  const script = `Target amd64-unicode
Unicode true
SetCompressor /SOLID lzma
SetDateSave off
Name "steward ${product.version}"
OutFile "${join(out, name)}"
InstallDir "$LOCALAPPDATA\\Programs\\steward"
RequestExecutionLevel user
Page instfiles
UninstPage instfiles

Section
  RMDir /r "$INSTDIR"
${filesIn(program)}
  SetOutPath "$LOCALAPPDATA\\Microsoft\\WindowsApps"
  FileOpen $0 "${command}" w
  FileWrite $0 '${START.away}$\\r$\\n'
  FileClose $0
  SetOutPath "$INSTDIR"
  WriteUninstaller "$INSTDIR\\uninstall.exe"
${Object.entries(values)
  .map(([entry, value]) => `  WriteRegStr HKCU "${key}" "${entry}" '${value}'`)
  .join('\n')}
SectionEnd

Section uninstall
  Delete "${command}"
  RMDir /r "$INSTDIR"
  DeleteRegKey HKCU "${key}"
SectionEnd
`;
  const path = join(work, 'setup.nsi');
  writeFileSync(path, script);
  run('makensis', ['-V2', path]);
  return name;
}

/** The files of the program in the order of their names: the order on a disk differs from machine to machine. */
function filesIn(folder, inside = '') {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => `  File "${join(folder, name)}"`);
  const folders = entries.filter((entry) => entry.isDirectory());
  return [
    `  SetOutPath "$INSTDIR${inside}"`,
    ...files,
    ...folders.map(({ name }) => filesIn(join(folder, name), `${inside}\\${name}`)),
  ].join('\n');
}

/** winget: the three manifests of a version, by their paths. */
export function wingetManifests({ product }, setup) {
  const manifest = (type, rows) =>
    stringify({
      PackageIdentifier: IDENTIFIER,
      PackageVersion: product.version,
      ...rows,
      ManifestType: type,
      ManifestVersion: SCHEMA,
    });
  const texts = {
    '': manifest('version', { DefaultLocale: 'en-US' }),
    '.installer': manifest('installer', {
      InstallerType: 'nullsoft',
      Scope: 'user',
      InstallModes: ['interactive', 'silent'],
      UpgradeBehavior: 'install',
      Commands: ['steward'],
      ProductCode: 'steward',
      Dependencies: {
        PackageDependencies: [
          { PackageIdentifier: 'OpenJS.NodeJS.LTS', MinimumVersion: product.engines.node.replace('>=', '') },
        ],
      },
      Installers: [
        { Architecture: 'x64', InstallerUrl: setup.url, InstallerSha256: setup.sha256.toUpperCase() },
      ],
    }),
    '.locale.en-US': manifest('defaultLocale', {
      PackageLocale: 'en-US',
      Publisher: product.author,
      PackageName: 'steward',
      PackageUrl: product.homepage,
      License: product.license,
      ShortDescription: product.description,
      Moniker: 'steward',
      Tags: product.keywords,
    }),
  };
  return Object.fromEntries(
    Object.entries(texts).map(([part, text]) => [`winget/${IDENTIFIER}${part}.yaml`, text]),
  );
}

/** Scoop: the manifest of the npm package. */
export function scoopManifest({ product, npm }) {
  const versioned = (text) => text.replaceAll(product.version, '$version');
  const manifest = {
    version: product.version,
    description: product.description,
    homepage: product.homepage,
    license: product.license,
    depends: 'nodejs-lts',
    url: npm.url,
    hash: npm.sha256,
    extract_dir: 'package',
    pre_install: `Set-Content -Encoding Ascii "$dir\\steward.cmd" '${START.beside}'`,
    bin: 'steward.cmd',
    checkver: 'github',
    autoupdate: { url: versioned(npm.url) },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
