import { randomBytes } from 'node:crypto';

import { openNotify } from '../../app/notify';
import { schedulerOf } from '../../app/schedule';
import { jobsHere } from '../jobs';
import { openWork } from '../../app/work';
import { installerDeps } from '../../app/context';
import type { Assistant } from '../../assistant/assistant';
import { installEach, installedEvents } from '../../assistant/install';
import { uninstallAllHooks } from '../../assistant/uninstall';
import { resolveSecret, secretSources } from '../../config/secret';
import { StewardError, throwAll, toStewardError } from '../../errors';
import { testChannel } from '../../notify/channels/channel';
import { noDesktop } from '../../notify/channels/desktop';
import { kindOf } from '../../platform/files/stat';
import { withSteps } from '../../platform/terminal/progress';
import { clean } from '../../platform/terminal/terminal';
import { DAEMON_JOB, type JobId, type SchedulerKind, tickJob } from '../../schedule/job';
import { listedAssistants, hookedAssistants } from '../install/assistants';
import { foundAssistants, listOf, registeredAssistants, titlesOf } from '../../assistant/registered';
import { type Setup, type Step, chosenJobs } from './step';

export const workStep: Step = {
  id: 'work',
  shown: ({ config }) => config().workRepo.repo ?? 'no repository',
  given(setup, flags) {
    const repo = flags['work-repo'];
    return repo === undefined ? undefined : () => setUpWork(setup, repo, flags['create-work-repo']);
  },
  async ask(setup, questions) {
    setup.say(
      'steward can store your work as issues in a private GitHub repository. Setup contacts GitHub with the credential from "gh auth login" and adds labels to the repository.',
    );
    const known = setup.config().workRepo.repo;
    const repo = await questions.line(`Repository as OWNER/REPO, or "none" [${known ?? 'none'}]: `);
    if (repo === '' || repo.toLowerCase() === 'none' || repo === known) return undefined;
    return async (asker) => {
      try {
        await setUpWork(setup, repo, false);
      } catch (error) {
        const question = `${clean(repo)} was not found. Create it as a private repository?`;
        const isMissing = toStewardError(error).kind === 'not_found';
        if (!isMissing || (await asker?.yes(question, 'no')) !== true) throw error;
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
    `${result.created ? `Created ${result.repo}, a private repository` : `${result.repo} is private`}; ${result.issues} issues read.`,
  );
}

const TOPIC = 'notifications.push.topic';
const SWITCH = 'notifications.push.enabled';

export const pushStep: Step = {
  id: 'push',
  shown({ config }) {
    const { enabled, topic, server } = config().settings.notifications.push;
    if (!topic.isSet) return 'no topic';
    return enabled ? `topic on ${clean(server)}` : 'off';
  },
  given(setup, { push, 'push-test': isTest }) {
    // Despite its declared type, the flag is undefined if it wasn't passed.
    const on = push as boolean | undefined;
    if (on === undefined && !isTest) return undefined;
    return async () => {
      if (on !== undefined) await setPush(setup, on);
      if (isTest) await sendTest(setup);
    };
  },
  async ask(setup, questions) {
    const { topic, enabled, detail, server } = setup.config().settings.notifications.push;
    const limits = detail === 'generic' ? ' Each push names only the kind of event.' : '';
    const { platform, env } = setup.context.desktop;
    const lack =
      noDesktop(platform, env) === undefined
        ? ''
        : ' Without a desktop, this machine shows no other messages.';
    setup.say(`Push sends urgent notifications to your phone through ${clean(server)}.${limits}${lack}`);
    const isOn = topic.isSet && enabled;
    if (!(await questions.yes('Send push notifications to your phone?', isOn ? 'yes' : 'no')))
      return isOn ? () => setPush(setup, false) : undefined;
    return async (asker) => {
      await setPush(setup, true);
      if ((await asker?.yes('Send a test message now?', 'no')) === true) await sendTest(setup);
    };
  },
};

async function setPush(setup: Setup, on: boolean): Promise<void> {
  const { topic, enabled } = setup.config().settings.notifications.push;
  if (on && !topic.isSet) {
    const secret = `steward-${randomBytes(16).toString('hex')}`;
    await setup.set({ [TOPIC]: secret, [SWITCH]: true });
  } else if (enabled !== on) await setup.set({ [SWITCH]: on });
  if (on) sayHowToSubscribe(setup);
}

function sayHowToSubscribe(setup: Setup): void {
  const { topic, server } = setup.config().settings.notifications.push;
  const base = /^https?:\/\//.test(server) ? server.replace(/\/$/, '') : `https://${server}`;
  setup.say(
    'Subscribe to this topic in the app "ntfy" (Android, iPhone), or open its URL. Keep the topic secret: anyone who knows it can read your notifications.',
  );
  setup.say(`${base}/${resolveSecret(topic, secretSources()) ?? ''}`);
  if (base !== 'https://ntfy.sh') setup.say(`Set the server in the app to ${base}.`);
}

async function sendTest(setup: Setup): Promise<void> {
  const { deps } = await openNotify(setup.context);
  const push = deps.channels.find(({ id }) => id === 'push');
  if (push === undefined) throw new StewardError('internal', 'Push channel not found.');
  const { state, reason, hint } = await testChannel(deps.clock, push);
  if (state !== 'ok')
    throw new StewardError('unavailable', `The test was not sent: ${reason ?? 'unknown reason'}`, {
      hint: hint ?? 'Try again.',
    });
  setup.say('Sent. Check your phone.');
}

export const hooksStep: Step = {
  id: 'hooks',
  shown({ context }) {
    const registered = registeredAssistants(installerDeps(context));
    return registered.length === 0 ? 'not registered' : `registered with ${titlesOf(registered)}`;
  },
  given: (setup, { hooks }) => (hooks === undefined ? undefined : () => setHooks(setup, hooks)),
  async ask(setup, questions) {
    const deps = installerDeps(setup.context);
    const assistants = foundAssistants();
    const paths = assistants.map(({ path }) => path(deps.host)).join(', ');
    setup.say(
      `Hooks report when an assistant session is working or waiting for you. steward adds them to ${paths} and changes nothing else there.`,
    );
    const isFound = assistants.some(({ folder }) => kindOf(folder(deps.host)) === 'folder');
    const preset = isFound || hasHooks(setup, assistants) ? 'yes' : 'no';
    const wanted = await questions.yes(`Register hooks with ${titlesOf(assistants)}?`, preset);
    return wanted === hasHooks(setup, assistants)
      ? undefined
      : () => setHooks(setup, wanted, listOf(assistants));
  },
};

function hasHooks({ context }: Setup, assistants: readonly Assistant[]): boolean {
  const deps = installerDeps(context);
  return assistants.every((one) => installedEvents(deps, one).length === one.hooks.length);
}

async function setHooks({ context, say }: Setup, on: boolean, list?: string): Promise<void> {
  if (!on) {
    const { deps, assistants } = hookedAssistants(context);
    throwAll((await uninstallAllHooks(deps, { assistants, dryRun: false })).failures);
    return;
  }
  const { deps, assistants } = listedAssistants(context, list);
  const { results, failures } = await installEach(deps, assistants, { dryRun: false });
  for (const { warnings } of results) for (const warning of warnings) say(warning);
  throwAll(failures);
}

export const jobsStep: Step = {
  id: 'jobs',
  async shown(setup) {
    const here = await schedulerHere(setup);
    if (here === undefined) return 'no scheduler; "steward up" runs the jobs';
    return `${here.installed.join(', ') || 'none'} in ${here.kind}`;
  },
  given(setup, flags) {
    if (flags.jobs === undefined) return undefined;
    const chosen = chosenJobs('--jobs', flags.jobs);
    return () => setJobs(setup, chosen);
  },
  hasQuestion: async (setup) => (await schedulerHere(setup)) !== undefined,
  async ask(setup, questions) {
    const here = await schedulerHere(setup);
    if (here === undefined) {
      setup.say('No scheduler on this machine. "steward up" runs the jobs until you stop it.');
      return undefined;
    }
    const { pollIntervalSec } = setup.config().sense;
    setup.say(
      `Jobs for ${here.kind}:\n  daemon: captures, delivers and sweeps, and serves the dashboard; started at login\n  tick: without a daemon, captures, delivers and sweeps every ${pollIntervalSec} s`,
    );
    const preset = here.installed[0] ?? DEFAULT_JOB;
    const text = await questions.line(`Job to schedule: daemon, tick or none [${preset}]: `);
    const chosen = chosenJobs('job', text === '' ? preset : text);
    return () => setJobs(setup, chosen);
  },
};

export const DEFAULT_JOB = 'daemon';

async function setJobs(setup: Setup, wanted: readonly JobId[]): Promise<void> {
  const scheduler = await schedulerOf(setup.context);
  for (const job of [DAEMON_JOB, tickJob(setup.config().sense)]) {
    if (!wanted.includes(job.id)) {
      const { removedFrom } = await scheduler.uninstall(job);
      if (removedFrom.length > 0) setup.say(`Removed ${job.id} from ${removedFrom.join(', ')}.`);
      continue;
    }
    const { changed, warnings } = await scheduler.install(job);
    if (changed) setup.say(`Installed ${job.id} in ${scheduler.kind}.`);
    for (const warning of warnings) setup.say(warning);
  }
}

async function schedulerHere(setup: Setup): Promise<{ kind: SchedulerKind; installed: JobId[] } | undefined> {
  const here = await jobsHere(setup.context, setup.config().sense);
  const installed = here?.jobs.filter((job) => job.installed).map(({ job }) => job) ?? [];
  return here && { kind: here.kind, installed };
}
