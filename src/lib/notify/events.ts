import type { RoutedChannel, RoutedEvent } from '../config/schema';

/** The events that a route can be set for. */
export type EventName = RoutedEvent;

/** Every channel; the settings route to push, chat and desktop, the others have rules of their own. */
export type ChannelId = RoutedChannel | 'voice' | 'sms';

export interface EventFacts {
  /** 1 (lowest) to 5, as push servers count. */
  priority: number;
  /** Passes quiet hours whatever its priority. */
  urgent: boolean;
  /** All that a generic push says. */
  generic: string;
  /** A push server turns this name into a picture. */
  tag: string;
  /** For people. */
  title: string;
}

/** One row an event. The default channels are those of the settings: config/schema.ts. */
export const EVENTS: Readonly<Record<EventName, EventFacts>> = {
  taskComplete: {
    priority: 3,
    urgent: false,
    generic: 'A task is complete.',
    tag: 'white_check_mark',
    title: 'Task complete',
  },
  longTask: {
    priority: 3,
    urgent: false,
    generic: 'A long task is complete.',
    tag: 'white_check_mark',
    title: 'Long task complete',
  },
  backgroundAgent: {
    priority: 3,
    urgent: false,
    generic: 'A background agent is done, or has gone silent.',
    tag: 'robot',
    title: 'Background agent done',
  },
  error: {
    priority: 4,
    urgent: false,
    generic: 'Something failed.',
    tag: 'warning',
    title: 'Error',
  },
  security: {
    priority: 5,
    urgent: true,
    generic: 'A security alert: look at your machine.',
    tag: 'rotating_light',
    title: 'Security alert',
  },
  attention: {
    priority: 4,
    urgent: false,
    generic: 'Your assistant waits for you.',
    tag: 'raising_hand',
    title: 'Waiting for you',
  },
  reminder: {
    priority: 4,
    urgent: false,
    generic: 'A reminder is due.',
    tag: 'alarm_clock',
    title: 'Reminder',
  },
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

export function isEventName(text: string): text is EventName {
  return Object.hasOwn(EVENTS, text);
}

/** Who speaks: the assistant, one of its subagents, a job that runs by itself. Only `da` is heard. */
export const SOURCES = ['da', 'subagent', 'job'] as const;
export type Source = (typeof SOURCES)[number];
