import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { commands } from '../../oclif.manifest.json';

const ROOT = resolve(__dirname, '..', '..');

/** Every document, of the root and of docs/, by its path from the root. */
export function docPages(): DocPage[] {
  return ['', 'docs/'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}${name}`)
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
  );
}

/** The words of a document: what contains a letter or a digit, the cells of its tables apart. */
export function wordsOf({ text }: DocPage): number {
  return text.replaceAll('|', ' ').match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;
}

export interface DocPage {
  path: string;
  text: string;
}

/** A fenced block. `marks` are the words of a comment `<!-- test: … -->` in the line before it. */
export interface Block {
  language: string;
  lines: string[];
  marks: string[];
  /** Of the fence, from 1. */
  line: number;
}

export function blocksOf({ text }: DocPage): Block[] {
  const found: Block[] = [];
  let open: Block | undefined;
  let marks: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (open !== undefined) {
      if (line.trim() === '```') open = undefined;
      else open.lines.push(line);
    } else if (line.startsWith('```')) {
      open = { language: line.slice(3).trim(), lines: [], marks, line: index + 1 };
      found.push(open);
      marks = [];
    } else {
      marks = /^<!-- test: (.*) -->$/.exec(line)?.[1]?.split(/,\s*/) ?? [];
    }
  }
  return found;
}

/** A line that a reader would type, with what the page shows below it; undefined where nothing is shown. */
export interface CommandLine {
  line: string;
  output: string[] | undefined;
}

/** The lines of `sh` blocks, and in others those after `$ `. */
export function commandLines({ language, lines }: Block): CommandLine[] {
  if (language === 'sh')
    return lines
      .filter((line) => line.trim() !== '' && !line.trim().startsWith('#'))
      .map((line) => ({ line, output: undefined }));
  const found: { line: string; output: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith('$ ')) found.push({ line: line.slice(2), output: [] });
    else found.at(-1)?.output.push(line);
  }
  return found;
}

/** The calls of steward in a line of shell: their words, quotes and comments taken off. */
export function stewardCalls(line: string): string[][] {
  return simpleCommands(line).flatMap((words) => {
    const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
    return words[start] === 'steward' ? [words.slice(start + 1)] : [];
  });
}

function simpleCommands(line: string): string[][] {
  const found: string[][] = [[]];
  const token = /\s+|#.*$|[|;&]+|[<>]+\s*\S+|((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\|;&<>])+)/gy;
  for (const match of line.matchAll(token)) {
    const [text, word] = match;
    if (word !== undefined) found.at(-1)?.push(word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"/g, '$1$2'));
    else if (/^[|;&]/.test(text)) found.push([]);
    else if (text.startsWith('#')) break;
  }
  return found;
}

interface Flag {
  type: string;
  char?: string;
  options?: string[];
  allowNo?: boolean;
}
interface Known {
  args: Record<string, { required?: boolean; options?: string[] }>;
  flags: Record<string, Flag>;
  strict?: boolean;
}
const KNOWN = commands as unknown as Record<string, Known>;

/** What is wrong with the words of a call: no such command, flag or value, too many or too few arguments. */
export function callFaults(words: readonly string[]): string[] {
  if (words.length === 0 || ['--version', '--help'].includes(words[0] ?? '')) return [];
  const plain = words.findIndex((word) => word.startsWith('-'));
  const limit = plain === -1 ? words.length : plain;
  let length = limit;
  while (length > 0 && KNOWN[words.slice(0, length).join(':')] === undefined) length -= 1;
  const command = KNOWN[words.slice(0, length).join(':')];
  if (command === undefined) return [`there is no command "${words.slice(0, limit).join(' ')}"`];
  const faults: string[] = [];
  const args: string[] = [];
  for (let i = length; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (!/^--?[a-z]/i.test(word)) {
      args.push(word);
      continue;
    }
    const [name = '', given] = word.split(/=(.*)/s, 2);
    const flag = flagOf(command, name);
    if (name === '--help') continue;
    if (flag === undefined) faults.push(`there is no flag ${name}`);
    else if (flag.type === 'option') {
      const value = given ?? words[(i += 1)];
      if (value === undefined) faults.push(`${name} lacks its value`);
      else if (flag.options?.includes(value) === false) faults.push(`${name} does not take ${value}`);
    }
  }
  const all = Object.values(command.args);
  const needed = all.filter(({ required }) => required === true).length;
  if (args.length < needed) faults.push(`it needs ${needed} arguments`);
  if (command.strict !== false && args.length > all.length)
    faults.push(`too many arguments: ${args.join(' ')}`);
  return faults;
}

function flagOf({ flags }: Known, name: string): Flag | undefined {
  if (!name.startsWith('--')) return Object.values(flags).find(({ char }) => `-${char}` === name);
  const known = flags[name.slice(2)];
  if (known !== undefined || !name.startsWith('--no-')) return known;
  const positive = flags[name.slice(5)];
  return positive?.allowNo === true ? positive : undefined;
}
