import { boolean, string } from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';

import type { Context } from '../../app/context';
import type { Config } from '../../config/schema';
import { StewardError } from '../../errors';
import { isInteractive, confirm, openPrompt, type Prompt } from '../../platform/terminal/ask';
import { clean } from '../../platform/terminal/terminal';
import type { JobId } from '../../schedule/job';

const value = (helpGroup: string, description: string, helpValue: string) =>
  string({ helpGroup, description, helpValue });

/** The flags of `steward init`. Each flag answers a question. */
export const INIT_FLAGS = {
  yes: boolean({ char: 'y', description: 'Skip the questions; change only the settings given as flags.' }),
  name: value('PERSON', 'Your name.', 'NAME'),
  'da-name': value('PERSON', "Your assistant's name.", 'NAME'),
  voice: string({ helpGroup: 'PERSON', description: 'Set voice output.', options: ['on', 'mute', 'off'] }),
  'voice-id': value('PERSON', 'A voice id from your speech provider.', 'ID'),
  'repos-below': value('CAPTURE', 'Watch the repositories below this folder.', 'DIR'),
  repo: string({
    helpGroup: 'CAPTURE',
    description: 'Watch this repository; repeatable.',
    helpValue: 'PATH',
    multiple: true,
    multipleNonGreedy: true,
  }),
  sources: string({
    helpGroup: 'CAPTURE',
    description: 'Sources to capture: all, none, or a list from appFocus,git,agentSession,web.',
    helpValue: 'LIST',
  }),
  'work-repo': value('SERVICE', 'Store work as issues in this repository. Contacts GitHub.', 'OWNER/REPO'),
  'create-work-repo': boolean({
    helpGroup: 'SERVICE',
    description: 'Create the repository, which will be private, if it does not exist.',
    dependsOn: ['work-repo'],
  }),
  push: boolean({
    helpGroup: 'SERVICE',
    description: 'Send push notifications to your phone; creates a topic if needed.',
    allowNo: true,
  }),
  'push-test': boolean({ helpGroup: 'SERVICE', description: 'Send a test push message.' }),
  import: value('IMPORT', "Import another system's data from this folder.", 'DIR'),
  'dry-run': boolean({
    helpGroup: 'IMPORT',
    description: 'With --import, show what would be imported without writing anything.',
    dependsOn: ['import'],
  }),
  'sync-folder': value('SERVICE', 'Folder that your machines sync, in which they meet.', 'DIR'),
  hooks: boolean({
    helpGroup: 'SERVICE',
    description: "Register steward's hooks with your assistant, or remove them.",
    allowNo: true,
  }),
  jobs: value('SERVICE', 'Job to schedule: daemon, tick or none.', 'JOB'),
};

export type InitFlags = InferredFlags<typeof INIT_FLAGS>;

export interface Setup {
  context: Context;
  config: () => Config;
  /** Writes settings to their files. Throws `usage` for an invalid value. */
  set: (values: Readonly<Record<string, unknown>>) => Promise<void>;
  say: (text: string) => void;
}

/** Applies an answer. May ask a follow-up question. */
export type Apply = (questions?: Prompt) => Promise<void>;

export interface Step {
  /** The name that users type to change this setting. */
  id: string;
  shown: (setup: Setup) => string | Promise<string>;
  /**
   * Returns a function that applies this step's flags, or undefined if none is set. Throws `usage` for an
   * invalid flag.
   */
  given: (setup: Setup, flags: InitFlags) => Apply | undefined;
  /** Returns whether there is something to ask on this machine. Default: yes. */
  hasQuestion?: (setup: Setup) => Promise<boolean>;
  /** Asks in the terminal. Returns undefined if the setting stays unchanged. */
  ask: (setup: Setup, questions: Prompt) => Promise<Apply | undefined>;
}

export const NO_TERMINAL = 'This command asks questions, so it needs a terminal.';

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');

/**
 * Parses `all`, `none`, or numbers and ranges such as `1 3-5` into sorted zero-based indexes. Returns
 * undefined if the text is invalid.
 */
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

/**
 * Parses `all`, `none`, or some of the names, and returns them in the order of `names`. Throws `usage` for an
 * unknown name.
 */
export function chosenNames<T extends string>(what: string, text: string, names: readonly T[]): T[] {
  const words = wordsOf(text);
  if (words.join() === 'all') return [...names];
  if (words.join() === 'none') return [];
  const isKnown = (word: string): boolean => names.some((name) => name.toLowerCase() === word);
  if (words.length > 0 && words.every(isKnown))
    return names.filter((name) => words.includes(name.toLowerCase()));
  const unknown = words.find((word) => !isKnown(word)) ?? '';
  throw new StewardError('usage', `Unknown ${what} "${clean(unknown)}".`, {
    hint: `Use all, none, or a list from ${names.join(', ')}.`,
  });
}

/** Parses a list of jobs to install. The daemon does what the tick does, so only one of them is installed. */
export function chosenJobs(what: string, text: string): JobId[] {
  const names = chosenNames(what, text, ['daemon', 'tick']);
  if (names.includes('daemon')) return ['daemon'];
  return names.length > 0 ? ['tick'] : [];
}

/** Runs `work` with prompts in the terminal. Throws `usage` if there is no terminal. */
export async function asking<T>(hint: string, work: (questions: Prompt) => Promise<T>): Promise<T> {
  if (!isInteractive()) throw new StewardError('usage', NO_TERMINAL, { hint });
  const questions = openPrompt();
  try {
    return await work(questions);
  } finally {
    questions.close();
  }
}

/**
 * Asks for consent. Throws `canceled` if the user declines, or `usage` if there is no terminal.
 * @param options.hint the hint of the `usage` error
 * @param options.no the message of the `canceled` error
 */
export async function consent(
  question: string,
  { preset = 'yes', hint, no }: { preset?: 'yes' | 'no'; hint: string; no: string },
): Promise<void> {
  if (!isInteractive()) throw new StewardError('usage', NO_TERMINAL, { hint });
  if (await confirm(question, preset)) return;
  throw new StewardError('canceled', no, { hint: 'Rerun the command.' });
}
