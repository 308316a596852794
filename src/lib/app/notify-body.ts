import { parseDuration } from '../platform/time/duration';

/** The flags of `notify send`. */
export interface SendFlags {
  title?: string | undefined;
  event: string;
  priority?: number | undefined;
  voice: boolean;
  'voice-id'?: string | undefined;
  source: string;
  phase?: string | undefined;
  slug?: string | undefined;
  duration?: string | undefined;
  dedupe?: string | undefined;
  url?: string | undefined;
  tag?: string[] | undefined;
  wait: boolean;
  strict: boolean;
  /** The id under which the daemon was sent it and gave no answer. */
  unanswered?: string | undefined;
}

/** The body of `POST /notify` that the flags stand for. */
export function bodyOf(message: string, flags: SendFlags): Record<string, unknown> {
  const body = {
    message,
    title: flags.title,
    event: flags.event,
    priority: flags.priority,
    voice_enabled: flags.voice,
    voice_id: flags['voice-id'],
    source: flags.source,
    phase: flags.phase,
    slug: flags.slug,
    durationSec: flags.duration === undefined ? undefined : parseDuration(flags.duration) / 1000,
    dedupe: flags.dedupe,
    url: flags.url,
    tags: flags.tag,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}
