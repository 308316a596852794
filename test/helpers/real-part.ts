import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { findProgram } from '../../src/lib/platform/process/spawn';

/**
 * Skips a test whose real programs are not installed, and says how to get them.
 *
 * @param programs the program's name to the Debian package that has it
 */
export function requirePrograms(context: Mocha.Context, programs: Readonly<Record<string, string>>): void {
  const missing = Object.keys(programs).filter((program) => findProgram(program) === undefined);
  const packages = [...new Set(missing.map((program) => programs[program]))].join(' ');
  requirePart(
    context,
    missing.length === 0,
    `${missing.join(', ')} not installed: apt-get install ${packages}`,
  );
  if (ON_TERMINAL.some((program) => program in programs)) requirePart(context, hasTerminals(), NO_TERMINAL);
}

/**
 * Skips a test that lacks a real part. Where CI is set the part has to be there: a test that quietly does not run
 * proves nothing.
 */
export function requirePart(context: Mocha.Context, isThere: boolean, message: string): void {
  if (isThere) return;
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.log(`      skipped: ${message}`);
  context.skip();
}

/** Skips a test on a machine that gives no pseudo-terminals, as some containers do, or without Python to open one. */
export function requireTerminal(context: Mocha.Context): void {
  requirePrograms(context, { python3: 'python3' });
  requirePart(context, hasTerminals(), NO_TERMINAL);
}

const NO_TERMINAL = 'no pseudo-terminal: mount /dev/pts';
/** Programs that open a pseudo-terminal. */
const ON_TERMINAL = ['script', 'tmux', 'kitty', 'foot', 'xterm'];

/** Asks whichever program is there; every Debian has `script`. */
function hasTerminals(): boolean {
  const { error, status } = spawnSync('python3', ['-c', 'import pty; pty.openpty()']);
  if (error === undefined) return status === 0;
  return spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status !== 1;
}

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
