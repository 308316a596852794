// npm run manifest writes oclif.manifest.json; --check fails when the one that is there is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ROOT, bundle, evaluate } from './bundle.mjs';

const FILE = join(ROOT, 'oclif.manifest.json');

/** The manifest of the sources as they are now. */
export async function makeManifest() {
  const { text } = await bundle('src/dev.ts');
  return evaluate(text, join(ROOT, 'dist', 'main.js')).sourceManifest(ROOT);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const text = `${JSON.stringify(await makeManifest(), null, 2)}\n`;
  if (!process.argv.includes('--check')) writeFileSync(FILE, text);
  else if (readFileSync(FILE, 'utf8') !== text) {
    console.error(
      'oclif.manifest.json is stale: a command, a flag or a help text has changed.\nRun "npm run manifest" and commit it.',
    );
    process.exitCode = 1;
  }
}
