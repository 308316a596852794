// npm run build: src → dist. One bundle for the commands, one for each heavy library, one for each hot
// command, and a small launcher that knows the hashes of them all. ARCHITECTURE.md says why.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

import { BASE, ROOT, VENDOR_BUNDLES, ascii, lazyBuiltins, shown } from './bundle.mjs';
import { leanOclif } from './lean-oclif.mjs';
import { makeManifest } from './manifest.mjs';
import { licenseText } from './licenses.mjs';

const DIST = join(ROOT, 'dist');
const inputs = {};

/** Bundles one entry in memory and remembers what went into it. */
async function bundle(entry, options = {}) {
  const { outputFiles, metafile } = await build({ ...BASE, entryPoints: [entry], ...options });
  const [output] = Object.values(metafile.outputs);
  for (const [path, facts] of Object.entries(output.inputs)) if (facts.bytesInOutput > 0) inputs[path] = true;
  return Buffer.from(ascii(outputFiles[0].text), 'latin1');
}

const manifest = await makeManifest();
const files = new Map();
const cli = await bundle('src/cli-built.ts', {
  define: { STEWARD_MANIFEST: JSON.stringify(manifest) },
  plugins: [leanOclif, ...BASE.plugins],
});
files.set('./cli.js', Buffer.from(lazyBuiltins(cli.toString('latin1')), 'latin1'));
for (const [module, id] of VENDOR_BUNDLES) files.set(id, await bundle(module));
for (const name of readdirSync(join(ROOT, 'src/lib/cli/hot'))) {
  const hot = await bundle(`src/lib/cli/hot/${name}`);
  files.set(
    `./hot/${name.replace(/\.ts$/, '.js')}`,
    Buffer.from(lazyBuiltins(hot.toString('latin1')), 'latin1'),
  );
}
const bundles = Object.fromEntries([...files].map(([id, bytes]) => [id, hashOf(bytes)]));
files.set(
  './main.js',
  await bundle('src/main.ts', {
    external: [...BASE.external, './cli.js'],
    define: { STEWARD_BUNDLES: JSON.stringify(bundles) },
  }),
);
files.set('./THIRD-PARTY-LICENSES.txt', Buffer.from(licenseText(Object.keys(inputs))));

rmSync(DIST, { recursive: true, force: true });
for (const [id, bytes] of files) {
  const path = join(DIST, id);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}
const total = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
console.log(`${shown(DIST)}: ${files.size} files, ${Math.round(total / 1024)} KiB`);

function hashOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}
