import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const CACHE = resolve(__dirname, '..', '..', 'node_modules', '.cache', 'steward-nodes');

/** The lines of Node that steward promises to run on; the oldest is the least that package.json asks for. */
export const NODE_LINES = ['20.19.0', '^22', '^24'] as const;

/**
 * The folder with the `node` of a line, from the package that brings it; kept for the next run. Undefined where the
 * registry cannot be reached, or there is no such package for this machine.
 */
export function nodeOfLine(line: string): string | undefined {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(CACHE, line.replace('^', ''));
  const bin = join(folder, 'node_modules', name, 'bin');
  if (existsSync(join(bin, 'node'))) return bin;
  const args = ['--no-save', '--no-audit', '--no-fund', '--force', '--ignore-scripts', '--silent'];
  const fetched = spawnSync('npm', ['install', '--prefix', folder, ...args, `${name}@${line}`], {
    encoding: 'utf8',
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  return fetched.status === 0 && existsSync(join(bin, 'node')) ? bin : undefined;
}
