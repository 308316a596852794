import { boolean, string } from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';

import type { Context } from '../../app/context';
import type { Config } from '../../config/schema';
import { StewardError } from '../../errors';
import { isInteractive, confirm, openPrompt, type Prompt } from '../../platform/terminal/ask';
import { clean } from '../../platform/terminal/terminal';

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
  push: boolean({ description: 'Push to your phone, with a new topic where there is none.', allowNo: true }),
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

export type InitFlags = InferredFlags<typeof INIT_FLAGS>;

/** What the steps of a set-up work with. */
export interface Setup {
  context: Context;
  config: () => Config;
  /** Writes keys into the files that own them; an invalid value is `usage`. */
  set: (values: Readonly<Record<string, unknown>>) => Promise<void>;
  say: (text: string) => void;
}

/** Does what was answered. With `questions` it may ask once more. */
export type Apply = (questions?: Prompt) => Promise<void>;

/** One question of the set-up. */
export interface Step {
  /** One word: what a person types to change it. */
  id: string;
  /** What is set now. */
  shown: (setup: Setup) => string | Promise<string>;
  /** What the flags answer, if anything; an invalid flag is `usage`, before anything is written. */
  given: (setup: Setup, flags: InitFlags) => Apply | undefined;
  /** Asks on the terminal; undefined: it stays as it is. */
  ask: (setup: Setup, questions: Prompt) => Promise<Apply | undefined>;
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');

/** Parses `all`, `none`, or numbers and ranges such as `1 3-5`; 0-based, in order. Undefined if invalid. */
export function chosenNumbers(text: string, count: number): number[] | undefined {
  const words = wordsOf(text);
  if (words.join() === 'all') return Array.from({ length: count }, (_, index) => index);
  if (words.join() === 'none') return [];
  const chosen = new Set<number>();
  for (const word of words) {
    const range = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(word);
    const [from, to] = [Number(range?.[1]), Number(range?.[2] ?? range?.[1])];
    if (range === null || from < 1 || to > count || from > to) return undefined;
    for (let number = from; number <= to; number += 1) chosen.add(number - 1);
  }
  return words.length === 0 ? undefined : [...chosen].sort((a, b) => a - b);
}

/** Parses `all`, `none`, or some of these names, in the order of the table. Anything else is `usage`. */
export function chosenNames<T extends string>(what: string, text: string, names: readonly T[]): T[] {
  const words = wordsOf(text);
  if (words.join() === 'all') return [...names];
  if (words.join() === 'none') return [];
  const isKnown = (word: string): boolean => names.some((name) => name.toLowerCase() === word);
  if (words.length > 0 && words.every(isKnown))
    return names.filter((name) => words.includes(name.toLowerCase()));
  const unknown = words.find((word) => !isKnown(word)) ?? '';
  throw new StewardError('usage', `${what} is one of ${names.join(', ')}, not "${clean(unknown)}".`, {
    hint: 'Several are apart by commas or spaces; all and none stand for themselves.',
  });
}

/** Asks questions on the terminal; without one it is `usage`. */
export async function asking<T>(hint: string, work: (questions: Prompt) => Promise<T>): Promise<T> {
  if (!isInteractive()) throw new StewardError('usage', 'There is no terminal to ask on.', { hint });
  const questions = openPrompt();
  try {
    return await work(questions);
  } finally {
    questions.close();
  }
}

/** Asks for a yes; a no is `canceled` with these words, and no terminal is `usage` with this hint. */
export async function consent(
  question: string,
  { preset = 'yes', hint, no }: { preset?: 'yes' | 'no'; hint: string; no: string },
): Promise<void> {
  if (!isInteractive()) throw new StewardError('usage', 'There is no terminal to ask on.', { hint });
  if (await confirm(question, preset)) return;
  throw new StewardError('canceled', no, { hint: 'Run it again when you want to.' });
}
