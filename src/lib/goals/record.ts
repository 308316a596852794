/** One active goal as the person wrote it (decisions.md 6). */
export interface Goal {
  /** `G1` */
  id: string;
  text: string;
  /** The person's own words on how it goes; null where they said nothing. */
  reported: string | null;
  target: string | null;
}

/**
 * The active goals of goals.md: under a heading that contains "Active Goals", `- **G1**: text` with optional
 * indented `reported:` and `target:` lines. The section ends at the next heading of its level or above.
 */
export function parseGoals(markdown: string): Goal[] {
  const goals: Goal[] = [];
  let level = 0;
  for (const line of markdown.split(/\r\n|\n|\r/)) {
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading !== null) {
      const depth = heading[1]?.length ?? 0;
      if (/active goals/i.test(heading[2] ?? '')) level = depth;
      else if (depth <= level) level = 0;
      continue;
    }
    if (level === 0) continue;
    const goal = /^[-*+]\s+\*\*(G[\w.-]+)\*\*\s*:?\s*(.*)$/.exec(line);
    if (goal !== null) {
      goals.push({ id: goal[1] ?? '', text: (goal[2] ?? '').trim(), reported: null, target: null });
      continue;
    }
    const field = /^\s+(?:[-*+]\s+)?(reported|target)\s*:\s*(.*?)\s*$/i.exec(line);
    const last = goals[goals.length - 1];
    if (field === null || last === undefined) continue;
    if (field[1]?.toLowerCase() === 'reported') last.reported = field[2] ?? null;
    else last.target = field[2] ?? null;
  }
  return goals;
}
