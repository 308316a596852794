import type { RoutedChannel, RoutedEvent } from '../config/schema';

export type EventName = RoutedEvent;

/** `notifications.routing` doesn't apply to voice or SMS, which have their own rules. */
export type ChannelId = RoutedChannel | 'voice' | 'sms';

/** All channels, in display order. */
export const CHANNEL_ORDER: readonly ChannelId[] = [
  'voice',
  'desktop',
  'terminal',
  'push',
  'chat',
  'telegram',
  'sms',
];

/** Who sends a notification: the assistant (`da`), a subagent or a job. */
export const SOURCES = ['da', 'subagent', 'job'] as const;
export type Source = (typeof SOURCES)[number];

interface EventFacts {
  /** Priority from 1 (lowest) to 5, the scale that push servers use. */
  priority: number;
  /** Whether the event ignores quiet hours at any priority. */
  urgent?: true;
  /** Emoji tag sent to push servers. */
  tag: string;
  title: string;
  /** The text of the push when `detail` is `generic`. */
  generic: string;
}

const DONE = 'white_check_mark';
const AGENT = 'A background agent finished or went silent.';
const ALERT = 'Security alert: check your machine.';
const WAITING = 'Your assistant is waiting for you.';
const LIMIT = 'You are close to a usage limit, or a limit has been reset.';

/** The default channels of each event are in config/schema.ts. */
export const EVENTS: Readonly<Record<EventName, EventFacts>> = {
  taskComplete: { priority: 3, tag: DONE, title: 'Task complete', generic: 'A task is complete.' },
  longTask: { priority: 3, tag: DONE, title: 'Long task complete', generic: 'A long task is complete.' },
  backgroundAgent: { priority: 3, tag: 'robot', title: 'Background agent finished', generic: AGENT },
  error: { priority: 4, tag: 'warning', title: 'Error', generic: 'Something failed.' },
  security: { priority: 5, urgent: true, tag: 'rotating_light', title: 'Security alert', generic: ALERT },
  attention: { priority: 4, tag: 'raising_hand', title: 'Waiting for you', generic: WAITING },
  reminder: { priority: 4, tag: 'alarm_clock', title: 'Reminder', generic: 'A reminder is due.' },
  limit: { priority: 3, tag: 'hourglass', title: 'Usage limit', generic: LIMIT },
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

export function isEventName(value: unknown): value is EventName {
  return typeof value === 'string' && Object.hasOwn(EVENTS, value);
}
