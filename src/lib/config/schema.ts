import { isIP } from 'node:net';
import * as v from 'valibot';

import { isZone, systemZone } from '../platform/time';
import {
  flag,
  hostOrAddress,
  isCleanText,
  isHost,
  isSafeUrl,
  listOf,
  optionalTextFrom,
  pathLeaf,
  pathList,
  secretText,
  text,
  textFrom,
  webAddress,
  wholeNumber,
} from './checks';
import { leaf, optionalLeaf, type Values } from './key';

/**
 * Every key of the configuration, once: type, words, default (decisions.md 1, 3, 5, 9; service.md: Sense
 * configuration file, Notification settings). Loading, showing and setting all read these trees.
 */
export const SENSE_KEYS = {
  enabled: flag(true),
  pollIntervalSec: wholeNumber(10, 3600, 120),
  sources: { appFocus: flag(true), git: flag(true), agentSession: flag(true) },
  repos: pathList(),
  retentionDays: wholeNumber(1, 3650, 30),
  idleAfterSec: wholeNumber(10, 86_400, 300),
  countsAsActive: listOf('a list of app names, bundle ids or globs', isCleanText, []),
  exclude: listOf('a list of app names, bundle ids or globs', isCleanText, []),
  git: {
    authors: leaf<'mine' | 'all' | string[]>({
      expected: '"mine", "all", or a list of e-mail addresses',
      check: v.union([v.picklist(['mine', 'all']), v.array(v.pipe(v.string(), v.check(isEmail)))]),
      fallback: 'mine',
    }),
  },
  insight: {
    command: listOf('a list: a program and its arguments', isCleanText, []),
  },
};

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
  sessions: { tab: flag(true) },
  notify: {
    quietHours: optionalTextFrom('two times of day such as 22:00-07:00', isQuietHours),
    smsCommand: listOf('a list: a program and its arguments', isCleanText, []),
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
        check: v.pipe(v.array(v.pipe(v.string(), v.check(isCleanText))), v.minLength(1)),
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
  },
};

/** The channels that a route may name; voice is handled apart from the routing (service.md: Events). */
export const ROUTED_CHANNELS = ['push', 'chat', 'desktop'] as const;
export type RoutedChannel = (typeof ROUTED_CHANNELS)[number];

export const SETTINGS_KEYS = {
  notifications: {
    push: {
      enabled: flag(true),
      topic: secretText('a topic of letters, digits, - and _', (value) => /^[\w-]{1,256}$/.test(value)),
      server: hostOrAddress('ntfy.sh'),
    },
    chat: { enabled: flag(false), webhook: secretText('an https:// address', isSafeUrl) },
    thresholds: { longTaskMinutes: wholeNumber(1, 1440, 5) },
    routing: {
      taskComplete: route([]),
      longTask: route(['push']),
      backgroundAgent: route(['push']),
      error: route(['push']),
      security: route(['push', 'chat']),
    },
  },
  daidentity: {
    voices: { main: { voiceId: optionalTextFrom('a voice id: a text without spaces', isVoiceId) } },
  },
};

/** sense/config.json, resolved. `enabled: false` is the kill switch; `repos` are absolute; times in seconds. */
export type SenseConfig = Values<typeof SENSE_KEYS>;
/** config.yaml, resolved; paths are absolute. */
export type UserConfig = Values<typeof USER_KEYS>;
/** settings.json, resolved; secrets stay references until `resolveSecret`. */
export type SettingsConfig = Values<typeof SETTINGS_KEYS>;

/** Everything that the one loader reads (decisions.md 1). */
export interface Config {
  user: UserConfig;
  settings: SettingsConfig;
  sense: SenseConfig;
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

/** `::1`, `0.0.0.0`, `localhost`. */
function isBindHost(value: string): boolean {
  return isIP(value) !== 0 || (!value.includes(':') && isHost(value));
}
