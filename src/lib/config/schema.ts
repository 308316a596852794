import { isIP } from 'node:net';
import * as v from 'valibot';

import { isZone, systemZone } from '../platform/time/time';
import {
  flag,
  hostOrAddress,
  isCleanText,
  isHost,
  isSafeUrl,
  listOf,
  mapOf,
  optionalTextFrom,
  pathLeaf,
  repositoryList,
  secretText,
  string,
  text,
  textFrom,
  webAddress,
  wholeNumber,
  insightCommandLeaf,
  leaf,
  optionalLeaf,
  type Values,
} from './leaf';

/**
 * Every key of the configuration, once: type, words, default. Loading, showing and setting all read these trees.
 */
export const SENSE_KEYS = {
  enabled: flag(true),
  pollIntervalSec: wholeNumber(10, 3600, 120),
  sources: { appFocus: flag(true), git: flag(true), agentSession: flag(true) },
  repos: repositoryList(),
  retentionDays: wholeNumber(1, 3650, 30),
  idleAfterSec: wholeNumber(10, 86_400, 300),
  countsAsActive: listOf('a list of app names, bundle ids or globs', isCleanText, []),
  exclude: listOf('a list of app names, bundle ids or globs', isCleanText, []),
  git: {
    authors: leaf<'mine' | 'all' | string[]>({
      expected: '"mine", "all", or a list of e-mail addresses',
      check: v.union([v.picklist(['mine', 'all']), v.array(string(isEmail))]),
      fallback: 'mine',
    }),
    backfillDays: wholeNumber(0, 365, 30),
  },
  insight: { command: insightCommandLeaf },
};

/** `auto`: the first that speaks; `none`: no voice. */
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

/** Where the speech provider is unless another server is named. */
export const SPEECH_PROVIDER_URL = 'https://api.elevenlabs.io';

export const USER_KEYS = {
  timezone: textFrom('an IANA time zone such as Europe/Berlin', isTimezone, systemZone),
  principal: {
    name: optionalTextFrom('a text of one line, not empty', isCleanText),
    email: optionalTextFrom('an e-mail address', isEmail),
  },
  da: {
    name: text('DA'),
    voices: { main: { voiceId: optionalTextFrom('a voice id: a text without spaces', isVoiceId) } },
  },
  paths: {
    sessions: pathLeaf(({ area }) => area.sessions),
    goals: pathLeaf(({ area }) => area.goals),
    projects: pathLeaf(({ area }) => area.projects),
    workEvents: pathLeaf(({ area }) => area.workEvents),
  },
  sessions: { tab: flag(true), tellAssistant: flag(false), titles: flag(false) },
  notify: {
    quietHours: optionalTextFrom('two times of day such as 22:00-07:00', isQuietHours),
    smsCommand: listOf('a list: a program and its arguments', isCleanText, []),
    voice: {
      engine: textFrom(
        `one of ${VOICE_ENGINES.join(', ')}`,
        (value) => (VOICE_ENGINES as readonly string[]).includes(value),
        'auto',
      ),
      provider: {
        url: webAddress(SPEECH_PROVIDER_URL),
        apiKey: secretText('a key without spaces', (value) => /^[!-~]{1,500}$/.test(value)),
        model: optionalTextFrom('a model id: a text without spaces', isVoiceId),
        settings: leaf<Record<string, number | boolean>>({
          expected: 'names with numbers, true or false, such as {"stability": 0.5}',
          check: v.record(v.string(), v.union([v.pipe(v.number(), v.finite()), v.boolean()])),
          fallback: () => ({}),
        }),
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
        expected: 'a list of at least one agent type',
        check: v.pipe(v.array(string(isCleanText)), v.minLength(1)),
        fallback: () => ['researcher-a', 'researcher-b', 'researcher-c'],
      }),
    },
    managed: {
      url: webAddress('https://api.anthropic.com'),
      apiKey: secretText('an API key', isCredential),
      authToken: secretText('an OAuth token', isCredential),
      silenceSec: wholeNumber(1, 600, 45),
      retentionDays: wholeNumber(1, 3650, 90),
      inputPrice: optionalPrice(),
      outputPrice: optionalPrice(),
    },
  },
  daemon: {
    host: textFrom('a host name or an IP address without a port', isBindHost, '127.0.0.1'),
    port: wholeNumber(0, 65_535, 31_337),
    requireToken: flag(false),
    otherUsers: flag(false),
  },
};

/** The channels that a route may name; the events that are spoken have a list of their own. */
const ROUTED_CHANNELS = ['push', 'chat', 'telegram', 'desktop'] as const;
export type RoutedChannel = (typeof ROUTED_CHANNELS)[number];

const ROUTES = {
  taskComplete: route([]),
  longTask: route(['push']),
  backgroundAgent: route(['push']),
  error: route(['push']),
  security: route(['push', 'chat']),
  attention: route(['desktop', 'push']),
  reminder: route(['desktop', 'push']),
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
      token: secretText('an access token of the push server', (value) => /^[\x21-\x7e]{1,512}$/.test(value)),
      detail: leaf<'generic' | 'full'>({
        expected: '"generic" (only the kind of event leaves this machine) or "full"',
        check: v.picklist(['generic', 'full']),
        fallback: 'generic',
      }),
    },
    chat: { enabled: flag(false), webhook: secretText('an https:// address', isSafeUrl) },
    telegram: {
      enabled: flag(false),
      token: secretText('a bot token such as 123456:ABC', (value) => /^\d{1,20}:[\w-]{10,200}$/.test(value)),
      chatId: secretText('the number of a chat, or @NAME', (value) =>
        /^(?:-?\d{1,20}|@\w{1,64})$/.test(value),
      ),
      server: hostOrAddress('api.telegram.org'),
    },
    thresholds: { longTaskMinutes: wholeNumber(1, 1440, 5) },
    routing: ROUTES,
    voice: {
      events: listOf(
        `a list of events: ${Object.keys(ROUTES).join(', ')}`,
        (value: string): value is RoutedEvent => Object.hasOwn(ROUTES, value),
        ['taskComplete', 'longTask', 'error', 'security', 'attention'],
      ),
    },
  },
  daidentity: {
    voices: { main: { voiceId: optionalTextFrom('a voice id: a text without spaces', isVoiceId) } },
  },
};

/** The lanes of the board; `WORK.KANBAN_COLUMNS` orders them. */
export const LANES = ['Queued', 'Blocked', 'In-Progress', 'In-Review', 'Complete'] as const;
export type Lane = (typeof LANES)[number];

/** work/config.yaml, with the names that the specification gives them. */
export const WORK_KEYS = {
  KANBAN_COLUMNS: leaf<Lane[]>({
    expected: `a list of lanes, each once, with Queued among them: ${LANES.join(', ')}`,
    check: v.pipe(
      v.array(v.picklist(LANES)),
      v.check((lanes) => new Set(lanes).size === lanes.length && lanes.includes('Queued')),
    ),
    fallback: () => [...LANES],
  }),
  POLL_INTERVAL_SECONDS: wholeNumber(10, 3600, 60),
  CAPTURE_NATIVE: flag(true),
  CAPTURE_SWEEP: flag(true),
  CAPTURE_PROMPT: leaf<'line' | 'whole'>({
    expected: '"line" (of a prompt only the line that asks for it is kept) or "whole"',
    check: v.picklist(['line', 'whole']),
    fallback: 'line',
  }),
  PROJECT_PROPERTY: mapOf('a Property such as website', (value) => /^[^\s,:][^,:]{0,38}$/.test(value)),
};

/** work/work_repo.json: the repository, its switch, and what was seen of its privacy. */
export const WORK_REPO_KEYS = {
  repo: optionalTextFrom('OWNER/REPO as the address of the repository has it', isRepository),
  enabled: flag(true),
  privacy: {
    verifiedPrivate: flag(false),
    visibility: optionalTextFrom('private, internal or public', isCleanText),
    verifiedAt: optionalTextFrom('a UTC time', isCleanText),
    ttlHours: wholeNumber(1, 24, 24),
    repo: optionalTextFrom('the OWNER/REPO that was verified', isRepository),
    repoId: optionalLeaf<number>({
      expected: 'the number that the service gave to the repository',
      check: v.pipe(v.number(), v.integer(), v.minValue(1)),
    }),
  },
};

/** sense/config.json, resolved. `enabled: false` is the kill switch; `repos` are absolute; times in seconds. */
export type SenseConfig = Values<typeof SENSE_KEYS>;
/** config.yaml, resolved; paths are absolute. */
export type UserConfig = Values<typeof USER_KEYS>;
/** settings.json, resolved; secrets stay references until `resolveSecret`. */
export type SettingsConfig = Values<typeof SETTINGS_KEYS>;

/** work/config.yaml, resolved. */
export type WorkConfig = Values<typeof WORK_KEYS>;
/** work/work_repo.json, resolved; `repo` undefined is the state before setup. */
export type WorkRepoConfig = Values<typeof WORK_REPO_KEYS>;

/** Everything that the one loader reads. */
export interface Config {
  user: UserConfig;
  settings: SettingsConfig;
  sense: SenseConfig;
  work: WorkConfig;
  workRepo: WorkRepoConfig;
}

/** What goes into a header: printable, without spaces. */
function isCredential(value: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(value);
}

/** USD for a million tokens. */
function optionalPrice() {
  return optionalLeaf<number>({
    expected: 'a price in USD for a million tokens, from 0 to 10000',
    check: v.pipe(v.number(), v.minValue(0), v.maxValue(10_000)),
  });
}

function route(fallback: readonly RoutedChannel[]) {
  return listOf(
    `a list of channels: ${ROUTED_CHANNELS.join(', ')}`,
    (value: string): value is RoutedChannel => (ROUTED_CHANNELS as readonly string[]).includes(value),
    fallback,
  );
}

/** A named zone: offsets such as +02:00 have no summer time, and some versions of Node refuse them. */
function isTimezone(value: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(value) && isZone(value);
}

function isEmail(value: string): boolean {
  return value.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(value) && isCleanText(value);
}

function isVoiceId(value: string): boolean {
  return /^\S{1,200}$/.test(value) && isCleanText(value);
}

function isQuietHours(value: string): boolean {
  const match = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(value);
  if (match === null) return false;
  const [, h1, m1, h2, m2] = match.map(Number);
  return (
    Math.max(h1 ?? 99, h2 ?? 99) < 24 &&
    Math.max(m1 ?? 99, m2 ?? 99) < 60 &&
    match[0].slice(0, 5) !== match[0].slice(6)
  );
}

/** `ann/work`: the names that GitHub allows. */
function isRepository(value: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(value);
}

/** `::1`, `0.0.0.0`, `localhost`. */
function isBindHost(value: string): boolean {
  return isIP(value) !== 0 || (!value.includes(':') && isHost(value));
}
