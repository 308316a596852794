import * as v from 'valibot';

import COMMAND from '../../../templates/data/insight-command.json';
import PRICES from '../../../templates/data/prices.json';
import { systemZone } from '../platform/time/time';
import {
  appList,
  isBindHost,
  isCredential,
  isEmail,
  isQuietHours,
  isExchangeRepo,
  isRepository,
  isTimezone,
  isVoiceId,
  command,
  flag,
  fromEnvironment,
  hostOrAddress,
  isCleanText,
  isSafeUrl,
  listOf,
  mapOf,
  optionalText,
  optionalPath,
  repositoryList,
  secretText,
  subsetOf,
  string,
  text,
  textFrom,
  webAddress,
  wholeNumber,
  leaf,
  written,
  type Values,
} from './leaf';
import { budgetList, modelPrices } from './model-prices';

/**
 * Runs Claude Code once with its fast model, isolated from the user's settings. Doesn't use `--bare`, which
 * ignores the login of a subscription.
 */
const INSIGHT_COMMAND: readonly string[] = COMMAND.flatMap(({ args }) => args);

/** The configuration keys of sense, with their types, checks and defaults. */
export const SENSE_KEYS = {
  enabled: flag(true),
  pollIntervalSec: wholeNumber(10, 3600, 120),
  sources: { appFocus: flag(true), git: flag(true), agentSession: flag(true), web: flag(true) },
  repos: repositoryList(),
  retentionDays: wholeNumber(1, 3650, 30),
  idleAfterSec: wholeNumber(10, 86_400, 300),
  countsAsActive: listOf('a list of app names, bundle ids or globs', isCleanText, []),
  exclude: appList(),
  git: {
    authors: leaf<'mine' | 'all' | string[]>({
      expected: '"mine", "all", or a list of e-mail addresses',
      check: () => v.union([v.picklist(['mine', 'all']), v.array(string(isEmail))]),
      fallback: 'mine',
    }),
    backfillDays: wholeNumber(0, 365, 30),
  },
  insight: { command: command(INSIGHT_COMMAND), hourly: flag(false) },
};

/** `auto` selects the first engine that works. `none` turns voice off. */
export const VOICE_ENGINES = [
  'auto',
  'none',
  'provider',
  'say',
  'sapi',
  'espeak-ng',
  'flite',
  'festival',
  'spd-say',
] as const;

export const SPEECH_PROVIDER_URL = 'https://api.elevenlabs.io';

const VOICE_ID = optionalText('a voice id without spaces', isVoiceId);

/** The exchange folder, and what exchanges it. */
export const SYNC_STATE = {
  folder: written(
    optionalPath(({ area }) => area.exchange),
    'sync setup',
  ),
  engine: written(
    leaf<'none' | 'syncthing' | 'git'>({
      expected: '"none", "syncthing" or "git"',
      check: () => v.picklist(['none', 'syncthing', 'git']),
      fallback: 'none',
    }),
    'sync connect',
  ),
  repo: written(
    optionalText('OWNER/REPO or the address of a git repository', isExchangeRepo),
    'sync connect',
  ),
};

export const USER_KEYS = {
  timezone: textFrom('an IANA time zone such as Europe/Berlin', isTimezone, systemZone),
  principal: { name: optionalText('one line of text') },
  user: { emails: listOf('a list of e-mail addresses', isEmail, []) },
  da: {
    name: text('DA'),
    voices: { main: { voiceId: VOICE_ID } },
  },
  usage: {
    enabled: flag(true),
    prices: modelPrices(),
    priceTable: webAddress(PRICES.public.url),
    budgets: budgetList(),
  },
  sessions: {
    tab: flag(true),
    tellAssistant: flag(false),
    titles: flag(false),
    hosts: written(listOf('a list of ssh hosts', isCleanText, []), 'sync connect ssh'),
  },
  sync: { details: flag(false), ...SYNC_STATE },
  notify: {
    quietHours: optionalText('a time range such as 22:00-07:00', isQuietHours),
    turnEnd: leaf<'long' | 'always' | 'never'>({
      expected: '"long", "always" or "never"',
      check: () => v.picklist(['long', 'always', 'never']),
      fallback: 'long',
    }),
    smsCommand: command([]),
    voice: {
      engine: textFrom(
        `one of ${VOICE_ENGINES.join(', ')}`,
        (value) => (VOICE_ENGINES as readonly string[]).includes(value),
        'auto',
      ),
      provider: {
        url: webAddress(SPEECH_PROVIDER_URL),
        apiKey: secretText('a key without spaces', (value) => /^[!-~]{1,500}$/.test(value)),
      },
    },
  },
  agents: {
    types: {
      general: text('general-purpose'),
      explore: text('Explore'),
      plan: text('Plan'),
      builder: text('builder'),
      toolGuide: text('tool-guide'),
      researchers: leaf<string[]>({
        expected: 'a list with at least one agent type',
        check: () => v.pipe(v.array(string(isCleanText)), v.minLength(1)),
        fallback: () => ['researcher-a', 'researcher-b', 'researcher-c'],
      }),
    },
    managed: {
      url: webAddress('https://api.anthropic.com'),
      apiKey: secretText('an API key or an OAuth token', isCredential),
    },
  },
  daemon: {
    host: textFrom('a host name or an IP address without a port', isBindHost, '127.0.0.1'),
    port: wholeNumber(0, 65_535, 31_337),
    // Only Linux tells who is at the other end of a TCP connection.
    requireToken: flag(({ area }) => area.host.platform !== 'linux'),
    otherUsers: flag(false),
  },
};

/** The channels that a route may contain. Excludes voice, which has its own list of event kinds. */
const ROUTED_CHANNELS = ['push', 'chat', 'telegram', 'desktop', 'terminal'] as const;
export type RoutedChannel = (typeof ROUTED_CHANNELS)[number];

const ROUTES = {
  taskComplete: route([]),
  longTask: route(['push']),
  backgroundAgent: route(['push']),
  error: route(['push']),
  security: urgentRoute(['push', 'chat']),
  attention: urgentRoute(['desktop', 'push']),
  reminder: route(['desktop', 'push']),
  limit: route(['desktop']),
};
export type RoutedEvent = keyof typeof ROUTES;

export const SETTINGS_KEYS = {
  notifications: {
    push: {
      enabled: flag(true),
      topic: secretText('a topic of 1 to 64 letters, digits, - and _', (value) =>
        /^[A-Za-z0-9_-]{1,64}$/.test(value),
      ),
      server: hostOrAddress('ntfy.sh'),
      token: secretText('an access token for the push server', (value) => /^[\x21-\x7e]{1,512}$/.test(value)),
      detail: textFrom(
        '"generic" (a push contains only the kind of event), "full" or "answers via HOST"',
        (value) => /^(?:generic|full|answers via [\w.-]{1,253})$/.test(value),
        'generic',
      ),
    },
    chat: { enabled: flag(false), webhook: secretText('an https:// address', isSafeUrl) },
    telegram: {
      token: secretText('a bot token such as 123456:ABC', (value) => /^\d{1,20}:[\w-]{10,200}$/.test(value)),
      chatId: secretText('a numeric chat id, or @NAME', (value) => /^(?:-?\d{1,20}|@\w{1,64})$/.test(value)),
      server: fromEnvironment(hostOrAddress('api.telegram.org'), 'STEWARD_TELEGRAM_SERVER'),
    },
    thresholds: { longTaskMinutes: wholeNumber(1, 1440, 5), breakMinutes: wholeNumber(1, 1440, 20) },
    answers: {
      enabled: flag(false),
      holdMinutes: wholeNumber(1, 30, 10),
      tools: listOf('a list of names of tools', (value) => /^[\w-]{1,100}$/.test(value), []),
    },
    routing: ROUTES,
    voice: {
      events: subsetOf(
        `a list of events: ${Object.keys(ROUTES).join(', ')}`,
        Object.keys(ROUTES) as RoutedEvent[],
        ['taskComplete', 'longTask', 'error', 'security', 'attention'],
      ),
    },
  },
  /** The copy of `da.voices.main.voiceId`. */
  daidentity: { voices: { main: { voiceId: written(VOICE_ID, 'config set da.voices.main.voiceId') } } },
};

/** The lanes of the board. `WORK.KANBAN_COLUMNS` sets their order. */
export const LANES = ['Queued', 'Blocked', 'In-Progress', 'In-Review', 'Complete'] as const;
export type LaneName = (typeof LANES)[number];

export const WORK_KEYS = {
  KANBAN_COLUMNS: leaf<LaneName[]>({
    expected: `a list of lanes without duplicates, including Queued: ${LANES.join(', ')}`,
    check: () =>
      v.pipe(
        v.array(v.picklist(LANES)),
        v.check((lanes) => new Set(lanes).size === lanes.length && lanes.includes('Queued')),
      ),
    fallback: () => [...LANES],
  }),
  POLL_INTERVAL_SECONDS: wholeNumber(10, 3600, 60),
  CAPTURE_NATIVE: flag(true),
  CAPTURE_SWEEP: flag(true),
  CAPTURE_PROMPT: leaf<'line' | 'whole'>({
    expected: '"line" (only the matching line of a prompt) or "whole"',
    check: () => v.picklist(['line', 'whole']),
    fallback: 'line',
  }),
  PROJECT_PROPERTY: mapOf(
    'project names, each with a Property, such as {"my-blog": "website"}',
    string((value) => /^[^\s,:][^,:]{0,38}$/.test(value)),
  ),
};

/** When the work repository was last verified as private, as stored. */
const PRIVACY = v.object({
  verifiedPrivate: v.optional(v.boolean(), false),
  visibility: v.optional(v.string()),
  verifiedAt: v.optional(v.string()),
  repo: v.optional(string(isRepository)),
  repoId: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

/**
 * The contents of work/work_repo.json: the repository, whether work tracking is on, and the result of the
 * privacy check.
 */
export const WORK_REPO_KEYS = {
  repo: optionalText('OWNER/REPO', isRepository),
  enabled: flag(true),
  privacy: written(
    leaf<v.InferInput<typeof PRIVACY>, v.InferOutput<typeof PRIVACY>>({
      expected: 'the result of a verification',
      check: () => PRIVACY,
      fallback: {},
      resolve: (stored) => v.parse(PRIVACY, stored),
    }),
    'work verify',
  ),
};

/** Every key by its dotted name. */
export const KEYS = {
  ...USER_KEYS,
  ...SETTINGS_KEYS,
  sense: SENSE_KEYS,
  WORK: { ...WORK_KEYS, ...WORK_REPO_KEYS },
};

export type SenseConfig = Values<typeof SENSE_KEYS>;
export type UserConfig = Values<typeof USER_KEYS>;
export type SettingsConfig = Values<typeof SETTINGS_KEYS>;

export type WorkConfig = Values<typeof WORK_KEYS>;
/** `repo` is undefined before setup. */
export type WorkRepoConfig = Values<typeof WORK_REPO_KEYS>;

/**
 * The resolved configuration. Paths are absolute. Secrets stay references until `resolveSecret` reads them.
 */
export interface Config {
  user: UserConfig;
  settings: SettingsConfig;
  sense: SenseConfig;
  work: WorkConfig;
  workRepo: WorkRepoConfig;
}

function route(fallback: readonly RoutedChannel[]) {
  return routeOf([...ROUTED_CHANNELS, 'atBreak'] as const, fallback);
}

/** An urgent event never waits for a break. */
function urgentRoute(fallback: readonly RoutedChannel[]) {
  return routeOf(ROUTED_CHANNELS, fallback);
}

function routeOf<S extends string>(names: readonly S[], fallback: readonly S[]) {
  const expected = `a list of ${names.join(', ')} (for the voice, set notifications.voice.events)`;
  return subsetOf(expected, names, fallback);
}
