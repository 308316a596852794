import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';

import type { Random } from './random';

/** A way in which a file of the user area may be damaged. */
export interface Damage {
  name: string;
  apply: (path: string, random: Random) => void;
}

const replacedBy = (name: string, text: string | Buffer): Damage => ({
  name,
  apply: (path) => writeFileSync(path, text),
});

/** The JSON of a file with one value changed. Files that hold no JSON get a text that is none. */
function changed(
  path: string,
  random: Random,
  change: (object: Record<string, unknown>, key: string) => void,
) {
  const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const isLines = rest.length > 1 && first.startsWith('{') && first.endsWith('}');
  const text = isLines ? first : [first, ...rest].join('\n');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    writeFileSync(path, ': [ } "');
    return;
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return;
  const object = value as Record<string, unknown>;
  change(object, random.pick(Object.keys(object)));
  writeFileSync(path, isLines ? [JSON.stringify(object), ...rest].join('\n') : JSON.stringify(object));
}

const WRONG: readonly unknown[] = [null, 0, -1, 1e308, '', 'x'.repeat(5000), '\u001b[2J', [], {}, [[]], true];

export const DAMAGES: readonly Damage[] = [
  replacedBy('empty', ''),
  replacedBy('a line feed', '\n'),
  replacedBy('zeros', Buffer.alloc(4096)),
  replacedBy('no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22, 0x7d])),
  replacedBy('null', 'null\n'),
  replacedBy('a list', '[]\n'),
  replacedBy('a text', '"text"\n'),
  replacedBy('deep nesting', `${'['.repeat(5000)}${']'.repeat(5000)}\n`),
  replacedBy('a newer version', '{"version":99}\n'),
  replacedBy('markup', '<!DOCTYPE html><p>Moved</p>\n'),
  {
    name: 'cut in the middle',
    apply: (path, random) => truncateSync(path, random.below(readFileSync(path).length + 1)),
  },
  {
    name: 'one byte changed',
    apply(path, random) {
      const bytes = readFileSync(path);
      if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
      writeFileSync(path, bytes);
    },
  },
  {
    name: 'a field missing',
    apply: (path, random) => changed(path, random, (object, key) => delete object[key]),
  },
  {
    name: 'a field of another type',
    apply: (path, random) => changed(path, random, (object, key) => (object[key] = random.pick(WRONG))),
  },
  {
    name: 'a folder in its place',
    apply(path) {
      rmSync(path);
      mkdirSync(path);
    },
  },
  {
    name: 'a link that leads nowhere',
    apply(path) {
      rmSync(path);
      symlinkSync('nowhere', path);
    },
  },
  // Root reads it all the same, which shows nothing.
  ...(process.getuid?.() === 0
    ? []
    : [{ name: 'not readable', apply: (path: string) => chmodSync(path, 0) }]),
  { name: 'missing', apply: (path) => rmSync(path) },
];
