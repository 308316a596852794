import { parseIso } from '../platform/time/clock';
import { clean } from '../platform/terminal/terminal';
import { byUrgency, type Item } from './board';
import { parseTitle } from './issue';

/** The sections of the file (service.md: Task list file), in its order. */
export const SECTIONS = [
  'Active',
  'Queued',
  'Triaged',
  'Projects',
  'Reminders',
  'Blocked',
  'Recently Completed',
] as const;
export type Section = (typeof SECTIONS)[number];

const DAY_MS = 86_400_000;
const RECENT_DAYS = 14;
const MAX_RECENT = 30;

/**
 * TASKLIST.md of a repository: each open issue once, by the first match (decisions.md 6). Pure: the same issues on
 * the same day give the same bytes, whatever their order.
 *
 * @param nowMs decides what was completed in the last 14 days
 */
export function taskList(items: readonly Item[], options: { repo: string; nowMs: number }): string {
  const bySection = new Map<Section, Item[]>(SECTIONS.map((section) => [section, []]));
  for (const item of items) {
    const section = sectionOf(item, options.nowMs);
    if (section !== undefined) bySection.get(section)?.push(item);
  }
  const lines = [
    '# Tasks',
    '',
    `Made by steward from the issues of ${clean(options.repo)}. Change the issues, not this file.`,
  ];
  for (const section of SECTIONS) {
    const own = sorted(section, bySection.get(section) ?? []);
    lines.push('', `## ${section}`, '', ...(own.length === 0 ? ['None.'] : own.map(taskLine)));
  }
  return `${lines.join('\n')}\n`;
}

/** Where an issue stands; undefined of one that was completed long ago. */
export function sectionOf(item: Item, nowMs: number): Section | undefined {
  if (item.state === 'closed') {
    const at = parseIso(item.closedAt ?? '');
    return at !== undefined && nowMs - at <= RECENT_DAYS * DAY_MS ? 'Recently Completed' : undefined;
  }
  const { status, type } = item;
  if (status === 'done') return 'Recently Completed';
  if (status === 'blocked' || status === 'needs-human') return 'Blocked';
  if (status === 'in-progress' || status === 'in-review') return 'Active';
  if (type === 'reminder') return 'Reminders';
  if (type === 'project') return 'Projects';
  return status === 'ready' ? 'Triaged' : 'Queued';
}

function sorted(section: Section, items: Item[]): Item[] {
  if (section !== 'Recently Completed') return items.sort(byUrgency);
  // What is open waits for its evidence: it is never cut off by the limit.
  const open = items.filter(({ state }) => state === 'open').sort((a, b) => a.number - b.number);
  const closed = items.filter(({ state }) => state === 'closed').sort(byClosing);
  return [...open, ...closed.slice(0, Math.max(0, MAX_RECENT - open.length))];
}

function byClosing(a: Item, b: Item): number {
  const [x, y] = [a.closedAt ?? '', b.closedAt ?? ''];
  return x === y ? b.number - a.number : x < y ? 1 : -1;
}

function taskLine(item: Item): string {
  const link = /^https?:\/\/[^\s()<>]+$/.test(item.url)
    ? `[#${item.number}](${item.url})`
    : `#${item.number}`;
  const facts = [
    item.priority,
    item.property,
    ...item.agents.map((name) => `@ ${name}`),
    item.stale ? 'stale' : null,
  ];
  const tail = facts
    .filter((fact) => fact !== null)
    .map((fact) => ` · ${escaped(fact)}`)
    .join('');
  return `- [${item.state === 'closed' ? 'x' : ' '}] ${link} ${escaped(parseTitle(item.title).text)}${tail}`;
}

/** Text from elsewhere as Markdown that shows it as it is: no markup, no mention, no reference. */
function escaped(text: string): string {
  return clean(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>|~#&!]/g, (char) => `\\${char}`);
}
