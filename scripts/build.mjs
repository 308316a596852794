// npm run build: src → dist. One bundle for each hot command, one for all others, one for each heavy library, and the
// launcher. ARCHITECTURE.md says why.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ROOT, bundle, bundlePages } from './bundle.mjs';
import { halves } from './halves.mjs';
import { licenseText } from './licenses.mjs';
import { makeManifest } from './manifest.mjs';

const DIST = join(ROOT, 'dist');
/** What a printed inbox loads, for which people wait most often. */
const INBOX = ['src/lib/cli/inbox-text.ts', 'src/lib/config/load.ts'];
const files = new Map();
const inputs = new Set();
const found = new Map();

async function add(name, entry, options) {
  keep(name, await bundle(entry, { ...options, found, outfile: name }));
}

function keep(name, made) {
  for (const path of made.inputs) inputs.add(path);
  files.set(name, made.text);
}

await add('cli.js', 'src/cli.ts');
await add('hook.js', 'src/lib/cli/hook-command.ts');
await add('statusline.js', 'src/lib/cli/statusline.ts');
await add('notify-send.js', 'src/lib/cli/notify-send-hot.ts');
const parts = await halves('src/lib/cli/overview-hot.ts', INBOX, ['overview.js', 'overview-rest.js'], found);
for (const [name, made] of parts) keep(name, made);
// Files are bundled at the same time, so the order in which libraries were found differs from build to build.
for (const [entry, id] of [...found].sort(([a], [b]) => (a < b ? -1 : 1)))
  await add(id.replace('./', ''), entry);
for (const [name, text] of await bundlePages()) files.set(name, text);
const hash = createHash('sha256')
  .update([...files.values()].join('\0'))
  .digest('hex')
  .slice(0, 16);
await add('main.js', 'src/main.ts', { define: { STEWARD_BUILD: JSON.stringify(hash) } });
const launcher = files.get('main.js');
files.delete('main.js');
files.set('THIRD-PARTY-LICENSES.txt', licenseText([...inputs]));

// Hooks and jobs may run from here just now: what is the same stays, the rest is replaced in one step, the launcher after its bundles.
files.set('main.js', launcher);
// A running daemon notices an upgrade by it, so it comes last.
files.set('build-id', `${hash}\n`);
write(join(ROOT, 'oclif.manifest.json'), `${JSON.stringify(await makeManifest(), null, 2)}\n`);
const paths = new Set([...files].map(([name, text]) => write(join(DIST, name), text)));
for (const entry of readdirSync(DIST, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isDirectory() && !paths.has(path)) rmSync(path);
}
const total = [...files.values()].reduce((sum, text) => sum + text.length, 0);
console.log(`dist: ${files.size} files, ${Math.round(total / 1024)} KiB`);

/** Gives the path. */
function write(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return path;
  mkdirSync(dirname(path), { recursive: true });
  const temp = `${path}.${process.pid}.tmp`;
  writeFileSync(temp, text);
  renameSync(temp, path);
  return path;
}
