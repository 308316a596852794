import { sessionsById, type Session } from '../sessions/session';
import { titleOf } from '../sessions/rows';
import type { SessionParts } from './day-timeline';

export interface DaySession extends Pick<SessionParts, 'repo' | 'branch' | 'parts'> {
  slug: string;
  title: string;
  issue: number | null;
}

/** Merges the parts of each session, and sorts the sessions by time spent, longest first. */
export function daySessions(found: readonly SessionParts[], sessions: readonly Session[]): DaySession[] {
  const byId = sessionsById(sessions);
  const rows = new Map<string, DaySession>();
  for (const { id, repo, branch, parts, ...told } of found) {
    const session = byId.get(id);
    const slug = session?.slug ?? told.slug ?? id;
    const known = rows.get(slug);
    rows.set(slug, {
      slug,
      title: session === undefined ? (told.title ?? `${repo ?? 'assistant'} session`) : titleOf(session),
      repo: repo ?? session?.repo ?? null,
      branch: branch ?? session?.branch ?? null,
      issue: session?.github_issue ?? told.issue ?? null,
      parts: [...(known?.parts ?? []), ...parts].sort((a, b) => a[0] - b[0]),
    });
  }
  const secondsOf = ({ parts }: DaySession): number => parts.reduce((sum, [, length]) => sum + length, 0);
  return [...rows.values()].sort((a, b) => secondsOf(b) - secondsOf(a));
}
