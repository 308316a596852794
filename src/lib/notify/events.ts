import type { RoutedChannel, RoutedEvent } from '../config/schema';

/** The events that a route can be set for. */
export type EventName = RoutedEvent;

/** Every channel; the settings route to most of them, voice and sms have rules of their own. */
export type ChannelId = RoutedChannel | 'voice' | 'sms';

/** Who speaks: the assistant, one of its subagents, a job that runs by itself. Only `da` is heard. */
export const SOURCES = ['da', 'subagent', 'job'] as const;
export type Source = (typeof SOURCES)[number];

export interface EventFacts {
  /** 1 (lowest) to 5, as push servers count. */
  priority: number;
  /** Passes quiet hours whatever its priority. */
  urgent?: true;
  /** A push server turns this name into a picture. */
  tag: string;
  /** For people. */
  title: string;
  /** All that a generic push says. */
  generic: string;
}

const DONE = 'white_check_mark';
const AGENT = 'A background agent is done, or has gone silent.';
const ALERT = 'A security alert: look at your machine.';

/** One row an event. The default channels are those of the settings: config/schema.ts. */
export const EVENTS: Readonly<Record<EventName, EventFacts>> = {
  taskComplete: { priority: 3, tag: DONE, title: 'Task complete', generic: 'A task is complete.' },
  longTask: { priority: 3, tag: DONE, title: 'Long task complete', generic: 'A long task is complete.' },
  backgroundAgent: { priority: 3, tag: 'robot', title: 'Background agent done', generic: AGENT },
  error: { priority: 4, tag: 'warning', title: 'Error', generic: 'Something failed.' },
  security: { priority: 5, urgent: true, tag: 'rotating_light', title: 'Security alert', generic: ALERT },
  attention: {
    priority: 4,
    tag: 'raising_hand',
    title: 'Waiting for you',
    generic: 'Your assistant waits for you.',
  },
  reminder: { priority: 4, tag: 'alarm_clock', title: 'Reminder', generic: 'A reminder is due.' },
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

export function isEventName(value: unknown): value is EventName {
  return typeof value === 'string' && Object.hasOwn(EVENTS, value);
}
