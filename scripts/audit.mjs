import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ROOT } from './bundle.mjs';

/**
 * Looks for known vulnerabilities in what is shipped. Its libraries are bundled and stand as development dependencies, so
 * `npm audit --omit=dev` would look at nothing: everything is asked for, and judged by the list of what the bundles hold.
 * A registry that does not answer fails nothing; only a vulnerability that was found does.
 */

/**
 * The names and versions in the list of licences that the build writes.
 * @param {string} licenses
 */
export function shippedIn(licenses) {
  return [...licenses.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) (\d+\.\d+\.\d\S*) \(/gm)].map(
    ([, name, version]) => `${name} ${version}`,
  );
}

/**
 * @typedef {{ name: string, severity: string, nodes: string[], via: (string | { title?: string, url?: string })[] }} Vulnerability
 * @param {Record<string, Vulnerability>} vulnerabilities of `npm audit --json`
 * @param {readonly string[]} shipped
 * @param {(node: string) => string} versionAt of the package in a folder
 */
export function shippedVulnerabilities(vulnerabilities, shipped, versionAt) {
  return Object.values(vulnerabilities).flatMap(({ name, severity, nodes, via }) => {
    const found = nodes.map((node) => `${name} ${versionAt(node)}`).filter((one) => shipped.includes(one));
    const why = via.map((one) => (typeof one === 'string' ? `by ${one}` : `${one.title} ${one.url}`));
    return [...new Set(found)].map((one) => `${one} (${severity}): ${why.join('; ')}`);
  });
}

function main() {
  const path = join(ROOT, 'dist', 'THIRD-PARTY-LICENSES.txt');
  if (!existsSync(path)) throw new Error('Run "npm run build" first: what it bundles is looked at.');
  const shipped = shippedIn(readFileSync(path, 'utf8'));
  const { stdout } = spawnSync('npm', ['audit', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  const answer = parsed(stdout);
  if (answer?.vulnerabilities === undefined) {
    console.log(`skipped: the registry does not tell of vulnerabilities (${answer?.message ?? 'no answer'})`);
    return;
  }
  const found = shippedVulnerabilities(
    answer.vulnerabilities,
    shipped,
    (node) => JSON.parse(readFileSync(join(ROOT, node, 'package.json'), 'utf8')).version,
  );
  for (const line of found) console.error(line);
  if (found.length > 0) process.exitCode = 1;
  else console.log(`${shipped.length} packages are shipped; nothing is known against any of them`);
}

/** @param {string | null} text */
function parsed(text) {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
