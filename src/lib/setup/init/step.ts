import { boolean, string } from '@oclif/core/flags';
import { dirname } from 'node:path';

import type { Context } from '../../app/context';
import type { Config } from '../../config/schema';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder } from '../../platform/files/folder';
import { parseObject } from '../../platform/files/json-object';
import type { Questions } from '../../platform/terminal/ask';

/** The flags of `steward init`: each answer is one. Undefined: nothing was said. */
export interface InitFlags {
  name?: string | undefined;
  'da-name'?: string | undefined;
  voice?: string | undefined;
  'voice-id'?: string | undefined;
  'repos-below'?: string | undefined;
  repo?: string[] | undefined;
  sources?: string | undefined;
  'work-repo'?: string | undefined;
  'create-work-repo'?: boolean | undefined;
  push?: boolean | undefined;
  'push-test'?: boolean | undefined;
  hooks?: boolean | undefined;
  jobs?: string | undefined;
}

/** What the steps of a set-up work with. */
export interface Setup {
  context: Context;
  /** The folder of steward's package.json. */
  root: string;
  /** As it is now. */
  config: () => Config;
  /** Writes keys into the files that own them; a value that does not fit is `usage`. */
  set: (values: Readonly<Record<string, unknown>>) => Promise<void>;
  /** A line for the person. */
  say: (text: string) => void;
}

/** Does what was answered. With `questions` somebody may be asked once more. */
export type Apply = (questions?: Questions) => Promise<void>;

/** One question of the set-up: a row of the table in `steps.ts`. */
export interface Step {
  /** One word: what a person types to change it. */
  id: string;
  /** What is set now, for the table of a set-up that is there. */
  shown: (setup: Setup) => string | Promise<string>;
  /** What the flags answer; undefined: nothing. What does not fit is `usage`, before anything is written. */
  given: (setup: Setup, flags: InitFlags) => Apply | undefined;
  /** Asks on the terminal; undefined: it stays as it is. */
  ask: (setup: Setup, questions: Questions) => Promise<Apply | undefined>;
}

/** The answers of `steward init`, each as a flag. */
export const INIT_FLAGS = {
  yes: boolean({ char: 'y', description: 'Ask nothing: only what flags say is changed.' }),
  name: string({ description: 'Your name.', helpValue: 'NAME' }),
  'da-name': string({ description: 'What your assistant is called.', helpValue: 'NAME' }),
  voice: string({ description: 'Whether it speaks aloud.', options: ['on', 'mute', 'off'] }),
  'voice-id': string({ description: 'The voice id of your speech provider.', helpValue: 'ID' }),
  'repos-below': string({ description: 'Watch the repositories below this folder.', helpValue: 'DIR' }),
  repo: string({
    description: 'Watch this repository (may be repeated).',
    helpValue: 'PATH',
    multiple: true,
    multipleNonGreedy: true,
  }),
  sources: string({
    description: 'What is captured: all, none, or some of appFocus,git,agentSession.',
    helpValue: 'LIST',
  }),
  'work-repo': string({ description: 'Keep work as issues there. Asks GitHub.', helpValue: 'OWNER/REPO' }),
  'create-work-repo': boolean({
    description: 'Make that repository, private, where it is not there.',
    dependsOn: ['work-repo'],
  }),
  push: boolean({
    description: 'Push to your phone, with a new topic where there is none.',
    allowNo: true,
  }),
  'push-test': boolean({ description: 'Send a test message over push.' }),
  import: string({
    description: 'Take over the data of another system that lie in this folder.',
    helpValue: 'DIR',
  }),
  'dry-run': boolean({
    description: 'With --import: say what would be taken over, and write nothing.',
    dependsOn: ['import'],
  }),
  hooks: boolean({
    description: "Register steward's hooks with your assistant, or take them out.",
    allowNo: true,
  }),
  jobs: string({
    description: 'What the scheduler runs: all, none, or some of sense,insight,work,daemon.',
    helpValue: 'LIST',
  }),
};

/**
 * Which of so many numbered things are meant: `all`, `none`, or numbers and ranges such as `1 3-5`; 0-based, in order.
 * Undefined: it cannot be read.
 */
export function chosenNumbers(text: string, count: number): number[] | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  if (words.length === 1 && words[0] === 'all') return Array.from({ length: count }, (_, index) => index);
  if (words.length === 1 && words[0] === 'none') return [];
  const chosen = new Set<number>();
  for (const word of words) {
    const range = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(word);
    const [from, to] = [Number(range?.[1]), Number(range?.[2] ?? range?.[1])];
    if (range === null || from < 1 || to > count || from > to) return undefined;
    for (let number = from; number <= to; number += 1) chosen.add(number - 1);
  }
  return words.length === 0 ? undefined : [...chosen].sort((a, b) => a - b);
}

/**
 * Which of some names are meant: `all`, `none`, or names apart by commas or spaces, in the order of the table. What is
 * none of them comes back as `unknown`.
 */
export function chosenNames<T extends string>(
  text: string,
  names: readonly T[],
): { chosen: T[] } | { unknown: string } {
  const words = text
    .trim()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  if (words.length === 1 && words[0]?.toLowerCase() === 'all') return { chosen: [...names] };
  if (words.length === 1 && words[0]?.toLowerCase() === 'none') return { chosen: [] };
  const known = (word: string): T | undefined =>
    names.find((name) => name.toLowerCase() === word.toLowerCase());
  const unknown = words.find((word) => known(word) === undefined);
  if (unknown !== undefined || words.length === 0) return { unknown: unknown ?? '' };
  const meant = new Set(words.map(known));
  return { chosen: names.filter((name) => meant.has(name)) };
}

/** How far a set-up has come: kept so that one that was interrupted goes on. */
export interface Progress {
  /** Ids of the steps that were answered, also by leaving them as they are. */
  answered: string[];
}

const VERSION = 1;

/** Nothing without a file, and where it is none of ours: the questions are asked again. */
export function readProgress(path: string): Progress {
  const found = parseObject(readText(path, { maxBytes: 64 * 1024 }) ?? '')?.['answered'];
  return { answered: Array.isArray(found) ? found.map(String) : [] };
}

export function writeProgress(path: string, { answered }: Progress): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify({ version: VERSION, answered })}\n`);
}
