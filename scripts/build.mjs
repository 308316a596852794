// npm run build: src → dist. One bundle that all commands share, one for each group of commands, one for each heavy
// library, one for each hot command, and a small launcher that knows the hashes of them all. ARCHITECTURE.md says why.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

import {
  BASE,
  COMMON_BUNDLE,
  GROUP_BUNDLES,
  ROOT,
  SHARED_BUNDLE,
  VENDOR_BUNDLES,
  ascii,
  commandGroups,
  fromShared,
  groupSource,
  lazyBuiltins,
  restLater,
  sharedSource,
  shown,
} from './bundle.mjs';
import { leanOclif } from './lean-oclif.mjs';
import { makeManifest } from './manifest.mjs';
import { licenseText } from './licenses.mjs';

const DIST = join(ROOT, 'dist');
const inputs = {};
/** A module that so many groups have is in a bundle that they share: the package would have it as often. */
const MANY = 3;

/** Bundles one entry, a file or a text, in memory and remembers what went into it. */
async function bundle(entry, options = {}) {
  const { outputFiles, metafile } = await build({
    ...BASE,
    ...(typeof entry === 'string'
      ? { entryPoints: [entry] }
      : { stdin: { ...entry, resolveDir: ROOT, loader: 'ts' } }),
    ...options,
  });
  const [output] = Object.values(metafile.outputs);
  const modules = Object.entries(output.inputs).filter(([, facts]) => facts.bytesInOutput > 0);
  for (const [path] of modules) inputs[path] = true;
  return { bytes: Buffer.from(ascii(outputFiles[0].text), 'latin1'), modules: modules.map(([path]) => path) };
}

/** The same for what most runs load: Node's slower modules wait for their first use. */
async function startBundle(entry, options) {
  const { bytes } = await bundle(entry, options);
  return Buffer.from(lazyBuiltins(bytes.toString('latin1')), 'latin1');
}

const manifest = await makeManifest();
const files = new Map();
const lean = [leanOclif, ...BASE.plugins];
const define = {
  STEWARD_COMMANDS: JSON.stringify(idsOf(manifest)),
  STEWARD_GROUPS: JSON.stringify(GROUP_BUNDLES),
};
const isModule = (path) => /^(src|node_modules)\//.test(path) && /\.(ts|js|json)$/.test(path);

const everywhere = (await bundle('src/cli-shared.ts', { define, plugins: lean })).modules.filter(isModule);
const start = "export { start } from './src/cli-built';";
files.set(
  SHARED_BUNDLE,
  await startBundle(
    { contents: sharedSource(everywhere, start) },
    { define, plugins: lean, minifyIdentifiers: true },
  ),
);

const bundleOf = new Map(everywhere.map((path) => [path, SHARED_BUNDLE]));
const groups = commandGroups(manifest);
const common = await usedByMany(groups);
files.set(
  COMMON_BUNDLE,
  await startBundle(
    { contents: sharedSource(common) },
    { plugins: [fromShared(bundleOf), ...lean], minifyIdentifiers: true },
  ),
);
for (const path of common) bundleOf.set(path, COMMON_BUNDLE);
for (const group of groups) {
  const plugins = [fromShared(bundleOf), ...lean];
  files.set(
    group.bundle,
    await startBundle({ contents: groupSource(group) }, { plugins, minifyIdentifiers: true }),
  );
}
// With short names: these are half of the package.
for (const [module, id] of VENDOR_BUNDLES)
  files.set(id, (await bundle(module, { minifyIdentifiers: true })).bytes);
for (const name of readdirSync(join(ROOT, 'src/lib/cli/hot'))) await hotBundles(name.replace(/\.ts$/, ''));
const bundles = Object.fromEntries([...files].map(([id, bytes]) => [id, hashOf(bytes)]));
files.set('./main-rest.js', await startBundle('src/main-rest.ts', { minifyIdentifiers: true }));
const launcher = await startBundle('src/main.ts', {
  minifyIdentifiers: true,
  define: { STEWARD_BUNDLES: JSON.stringify(bundles) },
});
files.set('./THIRD-PARTY-LICENSES.txt', Buffer.from(licenseText(Object.keys(inputs))));
files.set('./main.js', launcher);

// Hooks and jobs may run from here just now: what is the same stays, the rest is replaced in one step, the launcher last.
const paths = new Set();
for (const [id, bytes] of files) paths.add(write(join(DIST, id), bytes));
for (const entry of readdirSync(DIST, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isDirectory() && !paths.has(path)) rmSync(path);
}
const total = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
console.log(`${shown(DIST)}: ${files.size} files, ${Math.round(total / 1024)} KiB`);

/** Gives the path. */
function write(path, bytes) {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const temp = `${path}.${process.pid}.tmp`;
  writeFileSync(temp, bytes);
  renameSync(temp, path);
  return path;
}

/** A hot command, and what it may need later on: both know an error of the other. */
async function hotBundles(name) {
  const [own, rest] = [`./hot/${name}.js`, `./hot/${name}-rest.js`];
  const errors = 'src/lib/errors.ts';
  const entry = `export { run } from './src/lib/cli/hot/${name}';`;
  const later = new Set();
  const options = { plugins: [restLater(later, rest), ...BASE.plugins], minifyIdentifiers: true };
  const alone = await startBundle({ contents: entry }, options);
  if (later.size === 0) return void files.set(own, alone);
  files.set(own, await startBundle({ contents: sharedSource([errors], entry) }, options));
  const plugins = [fromShared(new Map([[errors, own]])), ...BASE.plugins];
  files.set(
    rest,
    await startBundle({ contents: sharedSource([...later]) }, { plugins, minifyIdentifiers: true }),
  );
}

/** The modules that several groups of commands would have, each. */
async function usedByMany(all) {
  const uses = new Map();
  for (const group of all) {
    const { modules } = await bundle(
      { contents: groupSource(group) },
      { plugins: [fromShared(bundleOf), ...lean] },
    );
    for (const path of modules.filter(isModule)) uses.set(path, (uses.get(path) ?? 0) + 1);
  }
  return [...uses].filter(([, count]) => count >= MANY).map(([path]) => path);
}

function idsOf({ commands }) {
  return Object.fromEntries(
    Object.values(commands).map(({ id, hidden }) => [id, { hidden: hidden === true }]),
  );
}

function hashOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}
