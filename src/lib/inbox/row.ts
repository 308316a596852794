import { minutes } from '../platform/time/day-words';
import type { Elsewhere } from '../sessions/rows';
import type { ShownAsk } from './asks';

export type WaitKind =
  | ('permission' | 'question' | 'plan' | 'limit' | 'turn' | 'agents' | 'hosted')
  | ('issue' | 'review' | 'reminder' | 'delivery' | 'hooks' | 'budget');

/** Something that waits for you. Times are ISO 8601 in UTC. */
export interface InboxWait {
  /** Identifies the thing, such as a session's slug or `#12`. Stable while it waits. */
  id: string;
  /** The name to type, such as `shop·login` or `#12`. */
  name: string;
  kind: WaitKind;
  /** The session's slug; absent for other things. */
  slug?: string;
  title: string | null;
  /** What it waits for, such as `asks to run Bash`. */
  why: string;
  since: string;
  repo: string | null;
  branch: string | null;
  priority: string | null;
  /** Whether an agent can't continue without you. */
  blocks: boolean;
  /** The command that opens it, or null. */
  go: string | null;
  url: string | null;
  /** The machine that has the session, and how old the news is; absent for this machine. */
  elsewhere?: Elsewhere;
  /** What you can answer from elsewhere; absent if nothing. */
  ask?: ShownAsk;
  /** Whether you decide that it is done. The others end when what they wait for happens. */
  canEnd: boolean;
}

export interface InboxRow extends InboxWait {
  /** Why the row has its place in the list. */
  rule: string;
}

/** The response to `GET /api/inbox`, and the output of `steward inbox --json`. */
export interface Inbox {
  rows: InboxRow[];
  count: number;
  /** How many others are snoozed. */
  snoozed: number;
  /** The time zone in which you read times. */
  timezone: string;
  /** When each source was last read; null if it hasn't been read yet. */
  asOf: Record<string, string | null>;
}

const DEFAULT_PRIORITY = 'P2';
const WEIGHTS: Readonly<Record<string, number>> = { P0: 8, P1: 4, P2: 2, P3: 1 };

/**
 * Sorts what blocks an agent first, longest wait first, and then the rest by priority and age. Adds to each wait why
 * it has its place.
 */
export function orderedRows(waits: readonly InboxWait[], nowMs: number): InboxRow[] {
  const ageOf = ({ since }: InboxWait): number => Math.max(0, nowMs - Date.parse(since));
  const weightOf = ({ priority, blocks }: InboxWait): number =>
    blocks ? Infinity : (WEIGHTS[priority ?? DEFAULT_PRIORITY] ?? 1);
  const ranked = waits.map((wait) => ({ wait, ageMs: ageOf(wait), weight: weightOf(wait) }));
  ranked.sort(
    (a, b) =>
      Number(b.wait.blocks) - Number(a.wait.blocks) ||
      (a.wait.blocks ? b.ageMs - a.ageMs : b.weight * b.ageMs - a.weight * a.ageMs) ||
      (a.wait.id < b.wait.id ? -1 : 1),
  );
  return ranked.map(({ wait, ageMs, weight }) => {
    const age = minutes(Math.floor(ageMs / 60_000));
    const priority = wait.priority ?? `no priority, as ${DEFAULT_PRIORITY}`;
    const rule = wait.blocks ? `blocks an agent for ${age}` : `${priority} (×${weight}), ${age}`;
    return Object.assign(wait, { rule });
  });
}
