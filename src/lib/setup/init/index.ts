import { StewardError, toStewardError } from '../../errors';
import type { Config } from '../../config/schema';
import type { Questions } from '../../platform/terminal/ask';
import { table } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import type { Context } from '../../app/context';
import { setUpSense } from '../../app/sense';
import { consentText } from '../../app/up';
import {
  readProgress,
  writeProgress,
  type Progress,
  type Apply,
  type InitFlags,
  type Setup,
  type Step,
} from './step';
import { hooksStep, jobsStep } from './step-machine';
import { leftForLater, pushStep, workStep } from './step-outside';
import { daStep, nameStep, voiceStep } from './step-person';
import { reposStep, sourcesStep } from './step-sense';

/** The questions in their order; a new one is a file and a row. */
const STEPS: readonly Step[] = [
  nameStep,
  daStep,
  voiceStep,
  reposStep,
  sourcesStep,
  workStep,
  pushStep,
  hooksStep,
  jobsStep,
];

export interface InitInput {
  /** The folder of steward's package.json. */
  root: string;
  flags: InitFlags;
  /** Undefined: nobody is asked. */
  questions: Questions | undefined;
  say: (text: string) => void;
}

/** `steward init --json`. */
export interface InitSummary {
  userArea: string;
  /** Every question was answered, or left as it is. */
  done: boolean;
  /** What is set now, by question. */
  set: Record<string, string>;
  next: string[];
}

/**
 * `steward init` (service.md: Setup steps; decisions.md 2). Flags are answers; the other questions are asked where
 * somebody can be, else left as they are. Each answer is written before the next question, and remembered, so that an
 * interrupted set-up goes on. Wrong flags are `usage` before anything is written.
 */
export async function setUpSteward(
  context: Context,
  input: InitInput,
): Promise<{ summary: InitSummary; wasShown: boolean }> {
  const { flags, questions } = input;
  const setup = await openSetup(context, input);
  const given = STEPS.flatMap((step) => {
    const apply = step.given(setup, flags);
    return apply === undefined ? [] : [{ step, apply }];
  });
  const progress = readProgress(context.area.initState);
  const isDone = (): boolean => STEPS.every(({ id }) => progress.answered.includes(id));
  const wasDone = isDone();
  for (const { step, apply } of given) await answer(setup, progress, step, apply);
  if (questions === undefined) {
    await setUpSense(context);
    for (const step of STEPS) await answer(setup, progress, step, undefined);
  } else if (!wasDone) await askOpen(setup, progress, questions);
  else if (given.length === 0) await change(setup, progress, questions);
  const set = await settings(setup);
  const next = isDone() ? ['steward status', 'steward up'] : ['steward init'];
  // A person who has looked through what is set need not see it again.
  const wasShown = questions !== undefined && wasDone && given.length === 0;
  return { summary: { userArea: context.area.root, done: isDone(), set, next }, wasShown };
}

async function openSetup(context: Context, { root, say }: InitInput): Promise<Setup> {
  let config: Config = (await context.loadConfig()).config;
  return {
    context,
    root,
    say,
    config: () => config,
    async set(values) {
      await setUpSense(context);
      const { changeConfig } = await import('../../config/write');
      const changes = Object.entries(values).map(([key, value]) => ({ key, to: () => value }));
      if (changes.length > 0) await changeConfig(context, changes);
      config = (await context.loadConfig()).config;
    },
  };
}

/** Does what was answered, and notes that the question was. */
async function answer(
  { context }: Setup,
  progress: Progress,
  { id }: Step,
  apply: Apply | undefined,
  questions?: Questions,
): Promise<void> {
  await apply?.(questions);
  if (progress.answered.includes(id)) return;
  await setUpSense(context);
  progress.answered.push(id);
  writeProgress(context.area.initState, progress);
}

/** Asks what was not answered yet, one after the other. */
async function askOpen(setup: Setup, progress: Progress, questions: Questions): Promise<void> {
  const open = STEPS.filter(({ id }) => !progress.answered.includes(id));
  const count = STEPS.length - open.length;
  if (count > 0)
    setup.say(`Going on after ${count} of ${STEPS.length} questions; what was answered is kept.`);
  else setup.say(welcome(setup.context));
  for (const step of open) {
    setup.say('');
    await askOne(setup, progress, step, questions);
  }
}

function welcome({ area }: Context): string {
  return [
    consentText(area.root),
    '',
    `${STEPS.length} questions; Enter takes what stands in [brackets]. Ctrl-C stops, and what you have answered stays. Nothing leaves this machine before you are asked.`,
  ].join('\n');
}

/**
 * Asks until the answer fits. What fails outside (no network, no credential, no scheduler) is told, left for later,
 * and stops nothing.
 */
async function askOne(setup: Setup, progress: Progress, step: Step, questions: Questions): Promise<void> {
  for (;;) {
    try {
      await answer(setup, progress, step, await step.ask(setup, questions), questions);
      return;
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      if (kind === 'canceled') throw stopped(setup, error);
      if (kind === 'internal') throw error;
      if (kind !== 'usage') {
        setup.say(leftForLater(error, step.id));
        return;
      }
      setup.say(
        [message, hint]
          .filter((text) => text !== undefined)
          .map(clean)
          .join(' '),
      );
    }
  }
}

function stopped({ context }: Setup, cause: unknown): StewardError {
  return new StewardError('canceled', `Stopped; what was answered is kept in ${context.area.root}.`, {
    hint: 'Run steward init again to go on.',
    cause,
  });
}

/** Shows what is set, and asks again what the person names. */
async function change(setup: Setup, progress: Progress, questions: Questions): Promise<void> {
  setup.say(settingsText(await settings(setup)));
  setup.say('');
  for (;;) {
    const word = (
      await line(setup, questions, 'Change which (a word of the left column; Enter: none)? ')
    ).toLowerCase();
    if (word === '') return;
    const step = STEPS.find(({ id }) => id === word);
    if (step === undefined) setup.say(`There is no ${clean(word)} to change.`);
    else {
      await askOne(setup, progress, step, questions);
      setup.say(settingsText({ [step.id]: await step.shown(setup) }));
    }
  }
}

async function line(setup: Setup, questions: Questions, question: string): Promise<string> {
  try {
    return await questions.line(question);
  } catch (error) {
    if (toStewardError(error).kind === 'canceled') throw stopped(setup, error);
    throw error;
  }
}

async function settings(setup: Setup): Promise<Record<string, string>> {
  const rows: [string, string][] = [];
  for (const { id, shown } of STEPS) rows.push([id, await shown(setup)]);
  return Object.fromEntries(rows);
}

/** A row a question: its word, and what is set. */
export function settingsText(set: Readonly<Record<string, string>>): string {
  return table(
    Object.entries(set).map(([id, words]) => [id, clean(words)]),
    [{}, { max: 66 }],
  );
}
