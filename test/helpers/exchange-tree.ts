import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { hashedId } from '../../src/lib/sync/format';
import { machineDay } from './machines';
import type { Random } from './random';

const DAYS = ['2026-11-19', '2026-11-20'] as const;

/** The files that a machine publishes for two days, by name. */
function publishedTree(id: string): Record<string, string> {
  const info = {
    ...{ format: 1, id, name: 'desktop', timezone: 'UTC', version: '1.0.0' },
    ...{ lastInput: '2026-11-20T09:41Z', publishedAt: '2026-11-20T09:42Z' },
  };
  const files: Record<string, string> = { 'machine.json': JSON.stringify(info) };
  for (const date of DAYS) {
    const { record, spans, commits } = machineDay(id, [['09:00', '10:00', 'Code', 'shop']], {
      ...{ date, commits: [[hashedId('commit', date), 'shop']], sessions: [[hashedId('session', 's'), 30]] },
    });
    const at = Date.parse(`${date}T09:00:00Z`) / 1000;
    const session = { id: hashedId('session', 's'), assistant: 'codex', repo: 'shop', branch: 'main' };
    const amounts = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, cost: 0.5 };
    const row = { assistant: 'codex', session: session.id, repo: 'shop', model: 'm', ...amounts };
    files[`daily/${date}.json`] = JSON.stringify({ format: 1, record, spans, commits });
    files[`sessions/${date}.jsonl`] = `${JSON.stringify({ ...session, parts: [[at, at + 60, 'w']] })}\n`;
    files[`usage/${date}.json`] = JSON.stringify({ format: 1, rows: [row] });
  }
  return files;
}

/** Writes what a machine publishes, damaged in one to three places. Returns a text that names the damage. */
export function writeMutatedTree(folder: string, id: string, random: Random): string {
  const own = join(folder, 'machines', id);
  const files = publishedTree(id);
  const names = Object.keys(files);
  for (const name of names) put(join(own, name), files[name] ?? '');
  return Array.from({ length: 1 + random.below(3) }, () => {
    const name = random.pick(names);
    const way = random.pick(Object.keys(WAYS) as (keyof typeof WAYS)[]);
    try {
      WAYS[way](join(own, name), random);
    } catch (error) {
      // An earlier damage replaced the folder, or made the value too deep to write again.
      if (!(error instanceof RangeError) && (error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
    }
    return `${way} in ${name}`;
  }).join(', ');
}

function put(path: string, text: string | Buffer): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const nested = (depth: number, open: string, end: string): string => open.repeat(depth) + end.repeat(depth);

const VALUES: readonly (() => unknown)[] = [
  ...[null, true, 0, -1, 1e308, -1e308, 2 ** 53, 0.1, '', [], {}, [[]], [null], { a: { b: 1 } }].map(
    (value) => () => value,
  ),
  () => 'x'.repeat(100_000),
  () => '\u001b[2J\u202e\u0000\ud800',
  () => '\\'.repeat(5000),
  () => Array.from({ length: 5000 }, () => 0),
  () => Array.from({ length: 2000 }, () => ({})),
  () => JSON.parse(nested(3000, '[', ']')) as unknown,
  () => JSON.parse(`${'{"é":'.repeat(200)}1${'}'.repeat(200)}`) as unknown,
  () => '2026-11-20',
  () => '0000-00-00T99:99:99Z',
  () => 253_402_300_799,
  () => ({ __proto__: null, constructor: 1, toString: 2 }),
];

/** Sets, removes or repeats one value somewhere in the file's JSON. */
function changeValue(path: string, random: Random, change: (parent: Parent, key: string) => void): void {
  let value: unknown;
  try {
    value = JSON.parse(readable(path));
  } catch {
    return;
  }
  let [parent, key] = [{ '': value } as Parent, ''];
  for (let depth = 0; depth < 12; depth += 1) {
    const child = parent[key];
    if (typeof child !== 'object' || child === null || (depth > 0 && random.chance(0.2))) break;
    const keys = Object.keys(child);
    if (keys.length === 0) break;
    [parent, key] = [child as Parent, random.pick(keys)];
  }
  change(parent, key);
  writeFileSync(path, JSON.stringify(value));
}

type Parent = Record<string, unknown>;

const WAYS = {
  'wrong value': (path: string, random: Random) =>
    changeValue(path, random, (parent, key) => (parent[key] = random.pick(VALUES)())),
  'removed value': (path: string, random: Random) =>
    changeValue(path, random, (parent, key) => Reflect.deleteProperty(parent, key)),
  'many items': (path: string, random: Random) =>
    changeValue(path, random, (parent, key) => {
      const value = parent[key];
      parent[key] = Array.from({ length: 3000 }, () =>
        Array.isArray(value) ? (value as unknown[])[0] : value,
      );
    }),
  'many keys': (path: string, random: Random) =>
    changeValue(path, random, (parent) => {
      for (let i = 0; i < 3000; i += 1) parent[`key ${i} ü`] = i;
    }),
  truncated: (path: string, random: Random) => {
    const text = readable(path);
    put(path, text.slice(0, random.below(text.length + 1)));
  },
  'changed byte': (path: string, random: Random) => {
    const data = Buffer.from(readable(path));
    if (data.length > 0) data[random.below(data.length)] = random.below(256);
    put(path, data);
  },
  'deep arrays': (path: string) => put(path, `{"format":1,"é":${nested(50_000, '[', ']')}}`),
  'deep objects': (path: string) => put(path, `${'{"é":'.repeat(4000)}1${'}'.repeat(4000)}`),
  'unfinished depth': (path: string) => put(path, '['.repeat(100_000)),
  escapes: (path: string) => put(path, `{"format":1,"name":"${'\\u001b'.repeat(100_000)}"}`),
  'other format': (path: string, random: Random) =>
    put(path, JSON.stringify({ format: random.pick([0, 2, -1, '1', null, 1e9]) })),
  'no bytes': (path: string) => put(path, ''),
  'zero bytes': (path: string) => put(path, Buffer.alloc(5000)),
  'many lines': (path: string) => put(path, '{}\n'.repeat(20_000)),
  'a folder': (path: string) => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(join(path, 'x'), { recursive: true });
  },
  'a link': (path: string) => {
    rmSync(path, { recursive: true, force: true });
    symlinkSync('/dev/zero', path);
  },
  'a file for its folder': (path: string) => {
    rmSync(dirname(path), { recursive: true, force: true });
    mkdirSync(dirname(dirname(path)), { recursive: true });
    writeFileSync(dirname(path), 'x');
  },
  missing: (path: string) => rmSync(path, { recursive: true, force: true }),
};

function readable(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : '';
}
