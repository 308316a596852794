import type { Lane } from '../config/schema';
import { type Issue, parseTitle } from './issue';

/** The Status values, in their order. */
export const STATUSES = [
  'queued',
  'needs-triage',
  'ready',
  'in-progress',
  'in-review',
  'blocked',
  'needs-human',
  'done',
] as const;
export type Status = (typeof STATUSES)[number];

/** Known without their family, too: those of the shipped label sets. */
export const TYPES = [
  'feature',
  'bug',
  'problem',
  'chore',
  'reminder',
  'research',
  'queue',
  'decision',
  'metric-alert',
  'project',
  'idea',
] as const;

export const PROPERTIES = [
  'newsletter',
  'website',
  'youtube',
  'podcast',
  'community',
  'consulting',
  'open-source',
  'internal',
  'core',
  'life',
] as const;

export const PRIORITIES = ['P0', 'P1', 'P2', 'P3'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Labels that say where an issue comes from or how it is, without a family. */
export const FLAGS = ['core-sync', 'auto-native', 'auto-sweep', 'stale'] as const;

/** Bare labels of older habits, and the Status that each is read as. */
const LEGACY_STATUS: ReadonlyMap<string, Status> = new Map(
  (
    [
      ['done', 'done', 'complete', 'completed', 'closed'],
      ['in-progress', 'in-progress', 'wip', 'doing', 'ai-working'],
      ['in-review', 'in-review', 'review'],
      ['blocked', 'blocked', 'on-hold', 'waiting'],
      ['needs-human', 'needs-human'],
      ['needs-triage', 'needs-triage', 'inbox'],
      ['ready', 'ready', 'triaged'],
      ['queued', 'queued', 'todo', 'backlog'],
    ] as const
  ).flatMap(([status, ...names]) => names.map((name): [string, Status] => [name, status])),
);

const LANE_OF: Readonly<Record<Status, Lane>> = {
  queued: 'Queued',
  'needs-triage': 'Queued',
  ready: 'Queued',
  'in-progress': 'In-Progress',
  'in-review': 'In-Review',
  'needs-human': 'In-Review',
  blocked: 'Blocked',
  done: 'Complete',
};

/** Of several Status labels the one furthest right here counts. */
const RANK: readonly Lane[] = ['Queued', 'In-Progress', 'In-Review', 'Blocked', 'Complete'];

/** A name as it is compared: labels are unique without case, and people write `On Hold` and `on_hold`. */
function plain(name: string): string {
  return name.trim().toLowerCase().replace(/[ _]+/g, '-');
}

/** The Status that one label says, legacy names included; undefined of every other label. */
export function statusOfLabel(label: string): Status | undefined {
  const name = plain(label);
  return LEGACY_STATUS.get(
    name.startsWith('status:') ? name.slice('status:'.length).replace(/^-/, '') : name,
  );
}

/** The Status of an issue by its labels, in whatever order they come; null where none says one. */
export function statusOf(labels: readonly string[]): Status | null {
  const found = labels.map(statusOfLabel).filter((status) => status !== undefined);
  const rank = (status: Status): number => RANK.indexOf(LANE_OF[status]) * 100 + STATUSES.indexOf(status);
  return found.reduce<Status | null>(
    (best, status) => (best === null || rank(status) > rank(best) ? status : best),
    null,
  );
}

/** closed or done → Complete; without a Status → Queued. */
export function laneOf(issue: Pick<Issue, 'state' | 'labels'>): Lane {
  if (issue.state === 'closed') return 'Complete';
  const status = statusOf(issue.labels);
  return status === null ? 'Queued' : LANE_OF[status];
}

export function priorityOf(labels: readonly string[]): Priority | null {
  const found = labels
    .map((label) => /^(?:priority:)?-?(p[0-3])(?:-[a-z-]+)?$/.exec(plain(label))?.[1]?.toUpperCase())
    .filter((priority) => priority !== undefined) as Priority[];
  return found.sort()[0] ?? null;
}

/** `Type:` and bare type names; of several the first of the taxonomy, own ones by name after them. */
export function typeOf(labels: readonly string[]): string | null {
  return memberOf(labels, 'type:', TYPES);
}

export function propertyOf(labels: readonly string[]): string | null {
  return memberOf(labels, 'property:', PROPERTIES);
}

function memberOf(labels: readonly string[], family: string, known: readonly string[]): string | null {
  const found = labels.map(plain).flatMap((name) => {
    if (name.startsWith(family)) return [name.slice(family.length).replace(/^-/, '')];
    return known.includes(name) ? [name] : [];
  });
  const rank = (name: string): number => {
    const at = known.indexOf(name);
    return at === -1 ? known.length : at;
  };
  return found.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))[0] ?? null;
}

/** The names behind `Agent:`, as written, in order without regard to the labels' order. */
export function agentsOf(labels: readonly string[]): string[] {
  return labels
    .filter((label) => /^agent:/i.test(label))
    .map((label) => label.slice('agent:'.length).trim())
    .filter((name) => name !== '')
    .sort((a, b) => (a < b ? -1 : 1));
}

export type Source = 'core-sync' | 'auto-native' | 'auto-sweep' | 'reminder' | 'manual';

/** The badge of a card: where the issue comes from. */
export function sourceOf(issue: Pick<Issue, 'labels' | 'title'>): Source {
  const names = issue.labels.map(plain);
  const flag = (['core-sync', 'auto-native', 'auto-sweep'] as const).find((name) => names.includes(name));
  if (flag !== undefined) return flag;
  return typeOf(issue.labels) === 'reminder' || parseTitle(issue.title).kind === 'reminder'
    ? 'reminder'
    : 'manual';
}

export function isStale(labels: readonly string[]): boolean {
  return labels.some((label) => plain(label) === 'stale');
}

/** Are two label names the same to the service? */
export function sameLabel(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

export function agentLabel(name: string): string {
  return `Agent:${name}`;
}

/** `nova-can-take`: what the DA should take next. */
export function canTakeLabel(daName: string): string {
  return `${agentName(daName)}-can-take`;
}

/** A name as it stands in labels: lower case, hyphens, no commas or colons, at most 30 characters. */
export function agentName(name: string): string {
  const plainName = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^-+|(?<!-)-+$/g, '')
    .slice(0, 30);
  return plainName || 'agent';
}

/** What has to change so that the issue has this one Status: only labels of the family. */
export function statusEdit(labels: readonly string[], status: Status): { add: string[]; remove: string[] } {
  const wanted = `Status:${status}`;
  const family = labels.filter((label) => /^status:/i.test(label));
  return {
    add: family.some((label) => sameLabel(label, wanted)) ? [] : [wanted],
    remove: family.filter((label) => !sameLabel(label, wanted)),
  };
}

/** The Property of a project: what the map says, without case; else the Property that is called like it; else none. */
export function propertyOfProject(
  project: string | null,
  map: Readonly<Record<string, string>>,
): string | null {
  const name = (project ?? '').trim().toLowerCase();
  const entry = Object.entries(map).find(([key]) => key.trim().toLowerCase() === name);
  if (entry !== undefined) return entry[1].toLowerCase();
  return PROPERTIES.find((property) => property === plain(name)) ?? null;
}
