import { randomBytes } from 'node:crypto';

import { StewardError, toStewardError } from '../../errors';
import { resolveSecret, secretSources } from '../../config/secret';
import { testChannel } from '../../notify/channels/channel';
import { clean } from '../../platform/terminal/terminal';
import type { Questions } from '../../platform/terminal/ask';
import { openNotify } from '../../app/notify';
import { withSteps } from '../../platform/terminal/progress';
import { openWork } from '../../app/work';
import type { Setup, Step } from './step';

/** The work repository: the first thing that leaves the machine, so it is asked for by itself. */
export const workStep: Step = {
  id: 'work',
  shown: ({ config }) => config().workRepo.repo ?? 'no repository',
  given(setup, flags) {
    const repo = flags['work-repo'];
    return repo === undefined ? undefined : () => setUpWork(setup, repo, flags['create-work-repo'] === true);
  },
  async ask(setup, questions) {
    setup.say(
      'Work can be kept as issues of one private repository on GitHub. Setting it up asks GitHub about the repository and adds labels there; it needs the credential of "gh auth login".',
    );
    const known = setup.config().workRepo.repo;
    const repo = await questions.line(`Repository, as OWNER/REPO, or none [${known ?? 'none'}]: `);
    if (repo === '' || repo.toLowerCase() === 'none' || repo === known) return undefined;
    return async (asker) => {
      try {
        await setUpWork(setup, repo, false);
      } catch (error) {
        if (!isMissing(error) || !(await mayCreate(asker, repo))) throw error;
        await setUpWork(setup, repo, true);
      }
    };
  },
};

async function setUpWork(setup: Setup, repo: string, create: boolean): Promise<void> {
  const { setUp } = await import('../../work/setup');
  const { deps } = await openWork(setup.context);
  const result = await withSteps(`Setting up ${clean(repo)}`, (onStep) =>
    setUp(deps, { repo, create }, onStep),
  );
  await setup.set({});
  setup.say(
    `${result.repo} is private${result.created ? ', and was made now' : ''}; ${result.issues} issues read.`,
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof StewardError && error.kind === 'not_found';
}

async function mayCreate(asker: Questions | undefined, repo: string): Promise<boolean> {
  if (asker === undefined) return false;
  return asker.yes(`${clean(repo)} is not there, or not yours to see. Make it, private?`, 'no');
}

const TOPIC = 'notifications.push.topic';
const SWITCH = 'notifications.push.enabled';

/** Push: a topic that nobody guesses (service.md: Authentication), and how to subscribe to it. */
export const pushStep: Step = {
  id: 'push',
  shown({ config }) {
    const { enabled, topic, server } = config().settings.notifications.push;
    if (!topic.isSet) return 'no topic';
    return enabled ? `a topic at ${clean(server)}` : 'switched off';
  },
  given(setup, flags) {
    if (flags.push === undefined && flags['push-test'] !== true) return undefined;
    return async () => {
      if (flags.push !== undefined) await setPush(setup, flags.push);
      if (flags['push-test'] === true) await sendTest(setup);
    };
  },
  async ask(setup, questions) {
    const { topic, enabled, detail, server } = setup.config().settings.notifications.push;
    setup.say(
      `Push tells your phone, through ${clean(server)}, of what is urgent${detail === 'generic' ? '; only the kind of event leaves this machine' : ''}.`,
    );
    const isOn = topic.isSet && enabled;
    if (!(await questions.yes('Push to your phone?', isOn ? 'yes' : 'no'))) {
      return isOn ? () => setPush(setup, false) : undefined;
    }
    return async (asker) => {
      await setPush(setup, true);
      if (asker !== undefined && (await asker.yes('Send a test message over it now?', 'no')))
        await sendTest(setup);
    };
  },
};

async function setPush(setup: Setup, on: boolean): Promise<void> {
  const { topic, enabled } = setup.config().settings.notifications.push;
  if (on && !topic.isSet) await setup.set({ [TOPIC]: newTopic(), [SWITCH]: true });
  else if (enabled !== on) await setup.set({ [SWITCH]: on });
  if (on) sayHowToSubscribe(setup);
}

/** A fixed prefix and 128 random bits. */
function newTopic(): string {
  return `steward-${randomBytes(16).toString('hex')}`;
}

function sayHowToSubscribe(setup: Setup): void {
  const { topic, server } = setup.config().settings.notifications.push;
  const value = resolveSecret(topic, secretSources());
  const base = /^https?:\/\//.test(server) ? server.replace(/\/$/, '') : `https://${server}`;
  setup.say(
    'To receive it, install the app "ntfy" (Android, iPhone) and subscribe to this topic, or open its address. Whoever knows it can read along:',
  );
  setup.say(`${base}/${value ?? ''}`);
  if (base !== 'https://ntfy.sh') setup.say(`In the app, choose the server ${base}.`);
}

async function sendTest(setup: Setup): Promise<void> {
  const { deps } = await openNotify(setup.context);
  const push = deps.channels.find(({ id }) => id === 'push');
  if (push === undefined) throw new StewardError('internal', 'No channel push is wired.');
  const { state, reason, hint } = await testChannel(deps.clock, push);
  if (state === 'ok') setup.say('Sent. It should be on your phone now.');
  else
    throw new StewardError('unavailable', `The test was not sent: ${reason ?? 'no reason is known'}`, {
      hint: hint ?? 'Try again.',
    });
}

/** What went wrong outside, in words, where the set-up goes on without it. */
export function leftForLater(error: unknown, id: string): string {
  const { message, hint } = toStewardError(error);
  const why = /[.!?]$/.test(message) ? message : `${message}.`;
  const told = clean([why, ...(hint === undefined ? [] : [hint])].join(' '));
  return `${told}\nIt stays as it was; "steward init" asks for ${id} again.`;
}
