import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './bundle.mjs';

/**
 * The licences of every package whose code is in the bundles.
 * @param {string[]} inputs paths of bundled files, relative to the root of the repository
 */
export function licenseText(inputs) {
  const folders = [...new Set(inputs.map(packageFolder).filter((path) => path !== undefined))].sort();
  /** The packages of each text: many have the same. */
  const packagesOf = new Map();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const files = readdirSync(join(ROOT, folder)).filter((file) =>
      /^(licen[cs]e|notice|copying)/i.test(file),
    );
    if (files.length === 0 && typeof license !== 'string') throw new Error(`${name} names no licence.`);
    const texts = files.sort().map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim());
    const text = texts.length === 0 ? `Its package states: ${license}` : texts.join('\n\n');
    const heading = `${name} ${version} (${typeof license === 'string' ? license : 'see below'})`;
    packagesOf.set(text, [...(packagesOf.get(text) ?? []), heading]);
  }
  // Without the copyright lines, so that similar texts are neighbours, which compress well.
  const key = (text) =>
    text
      .replace(/^.*copyright \(c\).*$/gim, '')
      .replace(/\s+/g, ' ')
      .trim();
  const parts = [...packagesOf]
    .sort(([a], [b]) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
    .map(([text, packages]) => `${packages.join('\n')}\n\n${text}\n`);
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return `steward contains code of these packages.\n${rule}${parts.join(rule)}`;
}

/** `node_modules/a/node_modules/@b/c` of a file of @b/c; undefined for a file of ours. */
function packageFolder(path) {
  const parts = path.split('/');
  const last = parts.lastIndexOf('node_modules');
  if (last === -1) return undefined;
  const length = parts[last + 1].startsWith('@') ? 3 : 2;
  return parts.slice(0, last + length).join('/');
}
