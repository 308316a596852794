import type { Context } from '../../app/context';
import { setUpSense } from '../../app/sense';
import type { Config } from '../../config/schema';
import { StewardError, throwIfBug, toStewardError } from '../../errors';
import { readObject, writeObject } from '../../platform/files/object-file';
import type { Prompt } from '../../platform/terminal/ask';
import { table } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import { consentText } from '../up';
import type { Apply, InitFlags, Setup, Step } from './step';
import { hooksStep, jobsStep, pushStep, workStep } from './step-services';
import { machinesStep } from './step-machines';
import { daStep, nameStep, voiceStep } from './step-person';
import { reposStep, sourcesStep } from './step-sense';

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
  machinesStep,
];

interface InitInput {
  flags: InitFlags;
  /** The prompts in the terminal; undefined if steward must not ask questions. */
  questions: Prompt | undefined;
  say: (text: string) => void;
}

/** The output of `steward init --json`. */
export type InitSummary = Awaited<ReturnType<typeof setUpSteward>>['summary'];

interface Session extends Setup {
  /** Ids of the answered questions. They are stored, so that an interrupted setup can be resumed. */
  answered: string[];
}

/**
 * Applies the flags, then asks the remaining questions. Validates all flags first, and saves each answer
 * immediately.
 */
export async function setUpSteward(context: Context, { flags, questions, say }: InitInput) {
  const setup = await openSession(context, say);
  const given = STEPS.flatMap((step) => {
    const apply = step.given(setup, flags);
    return apply === undefined ? [] : [{ step, apply }];
  });
  const isDone = (): boolean => STEPS.every(({ id }) => setup.answered.includes(id));
  const wasDone = isDone();
  for (const { step, apply } of given) await answer(setup, step, apply);
  if (questions === undefined) {
    await setUpSense(context);
    for (const step of STEPS) await answer(setup, step, undefined);
  } else if (!wasDone) await askOpen(setup, questions);
  else if (given.length === 0) await change(setup, questions);
  const next = isDone() ? ['steward status', 'steward up'] : ['steward init'];
  // `set` has the current settings, by question id.
  const summary = { userArea: context.area.root, done: isDone(), set: await settings(setup), next };
  return { summary, wasShown: questions !== undefined && wasDone && given.length === 0 };
}

async function openSession(context: Context, say: (text: string) => void): Promise<Session> {
  let config: Config = (await context.loadConfig()).config;
  const stored = readObject(context.area.initState, 64 * 1024)?.['answered'];
  return {
    context,
    say,
    answered: Array.isArray(stored) ? stored.map(String) : [],
    config: () => config,
    async set(values) {
      await setUpSense(context);
      await (await import('../../config/write')).setKeys(context, values);
      config = (await context.loadConfig()).config;
    },
  };
}

async function answer(
  { context, answered }: Session,
  { id }: Step,
  apply: Apply | undefined,
  questions?: Prompt,
): Promise<void> {
  await apply?.(questions);
  if (answered.includes(id)) return;
  await setUpSense(context);
  answered.push(id);
  const path = context.area.initState;
  writeObject(path, { version: 1, answered });
}

async function askOpen(setup: Session, questions: Prompt): Promise<void> {
  const open = STEPS.filter(({ id }) => !setup.answered.includes(id));
  const count = STEPS.length - open.length;
  const asked = await Promise.all(open.map((step) => step.hasQuestion?.(setup) ?? true));
  const total = count + asked.filter(Boolean).length;
  setup.say(
    count > 0
      ? `Resuming setup: ${count} of ${total} questions answered.`
      : `${consentText(setup.context.area.root)}\n\n${total} questions follow, some with a second one. Press Enter to accept the value in [brackets]. Press Ctrl-C to stop; your answers are saved. Nothing leaves this machine unless you agree.`,
  );
  for (const step of open) {
    setup.say('');
    await askOne(setup, step, questions);
  }
}

/**
 * Asks until the answer is valid. Reports other failures, such as a network error, so that the user can retry
 * later.
 */
async function askOne(setup: Session, step: Step, questions: Prompt): Promise<void> {
  for (;;) {
    try {
      await answer(setup, step, await step.ask(setup, questions), questions);
      return;
    } catch (error) {
      const { kind, message, hint } = throwIfBug(error);
      if (kind === 'canceled') throw stopped(setup, error);
      const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
      const text = clean(hint === undefined ? sentence : `${sentence} ${hint}`);
      if (kind !== 'usage') {
        setup.say(`${text}\nNothing changed. Run "steward init" to retry "${step.id}".`);
        return;
      }
      setup.say(text);
    }
  }
}

function stopped({ context }: Setup, cause: unknown): StewardError {
  return new StewardError('canceled', `Stopped. Your answers are saved in ${context.area.root}.`, {
    hint: 'Run "steward init" to continue.',
    cause,
  });
}

async function change(setup: Session, questions: Prompt): Promise<void> {
  setup.say(`${settingsText(await settings(setup))}\n`);
  for (;;) {
    const word = await questions
      .line('Setting to change (name in the first column, Enter for none): ')
      .catch((error: unknown) => {
        throw toStewardError(error).kind === 'canceled' ? stopped(setup, error) : error;
      });
    if (word === '') return;
    const step = STEPS.find(({ id }) => id === word.toLowerCase());
    if (step === undefined) setup.say(`Unknown setting "${clean(word)}".`);
    else {
      await askOne(setup, step, questions);
      setup.say(settingsText({ [step.id]: await step.shown(setup) }));
    }
  }
}

async function settings(setup: Setup): Promise<Record<string, string>> {
  const rows: [string, string][] = [];
  for (const { id, shown } of STEPS) rows.push([id, await shown(setup)]);
  return Object.fromEntries(rows);
}

export function summaryText({ set, next }: InitSummary, wasShown: boolean): string {
  const steps = ['Next:', ...next.map((step) => `  ${step}`)];
  return [...(wasShown ? [] : [settingsText(set), '']), ...steps].join('\n');
}

function settingsText(set: Readonly<Record<string, string>>): string {
  const rows = Object.entries(set).map(([id, words]) => [id, clean(words)]);
  return table(rows, [{}, { max: 66 }]);
}
