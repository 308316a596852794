import type { LaneName } from '../config/schema';
import { type Issue, parseTitle } from './issue';

/**
 * The Status values in workflow order, each with its lane and the common labels that mean it even without the
 * `Status:` prefix.
 */
const STATUS = {
  queued: ['Queued', 'todo', 'backlog'],
  'needs-triage': ['Queued', 'inbox'],
  ready: ['Queued', 'triaged'],
  'in-progress': ['In-Progress', 'wip', 'doing', 'ai-working'],
  'in-review': ['In-Review', 'review'],
  blocked: ['Blocked', 'on-hold', 'waiting'],
  'needs-human': ['In-Review'],
  done: ['Complete', 'complete', 'completed', 'closed'],
} as const satisfies Record<string, readonly [LaneName, ...string[]]>;
export type IssueStatus = keyof typeof STATUS;
export const STATUSES = Object.keys(STATUS) as IssueStatus[];

/**
 * The types and properties in the label sets, recognized with or without the prefix `Type:` or `Property:`.
 */
// prettier-ignore
export const TYPES = [
  'feature', 'bug', 'problem', 'chore', 'reminder', 'research', 'queue', 'decision', 'metric-alert', 'project', 'idea',
];
// prettier-ignore
export const PROPERTIES = [
  'newsletter', 'website', 'youtube', 'podcast', 'community', 'consulting', 'open-source', 'internal', 'core', 'life',
];

export const PRIORITIES = ['P0', 'P1', 'P2', 'P3'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Labels without a prefix. */
export const FLAGS = ['core-sync', 'auto-native', 'auto-sweep', 'stale'] as const;

/** If an issue has several Status labels, the label whose lane is last in this list wins. */
const LANE_RANK: readonly LaneName[] = ['Queued', 'In-Progress', 'In-Review', 'Blocked', 'Complete'];

/** Normalizes a label, so that `On Hold` and `on_hold` are equal. */
function normal(label: string): string {
  return label.trim().toLowerCase().replace(/[ _]+/g, '-');
}

/** Returns the Status for a label or alias. */
export function statusOfLabel(label: string): IssueStatus | undefined {
  const name = normal(label).replace(/^status:-?/, '');
  return STATUSES.find((status) => {
    const [, ...aliases]: readonly string[] = STATUS[status];
    return name === status || aliases.includes(name);
  });
}

/** Returns the Status from an issue's labels, or null if no label sets one. */
export function statusOf(labels: readonly string[]): IssueStatus | null {
  const rank = (status: IssueStatus): number =>
    LANE_RANK.indexOf(STATUS[status][0]) * 100 + STATUSES.indexOf(status);
  const found = labels.flatMap((label) => statusOfLabel(label) ?? []);
  return found.sort((a, b) => rank(b) - rank(a))[0] ?? null;
}

/** What an issue's labels say. */
export type LabelFacts = ReturnType<typeof labelFacts>;

export function labelFacts(labels: readonly string[]) {
  const names = labels.map(normal);
  return {
    status: statusOf(labels),
    type: typeOf(labels),
    priority: priorityOf(labels),
    property: memberOf(labels, 'property:', PROPERTIES),
    agents: agentsOf(labels),
    origin: ORIGIN_FLAGS.find((name) => names.includes(name)),
    stale: isStale(labels),
  };
}

/** Returns a function like `labelFacts` that reads each set of labels once, because most issues share theirs. */
export function labelReader(): (labels: readonly string[]) => LabelFacts {
  const known = new Map<string, LabelFacts>();
  return (labels) => {
    const key = labels.join('\n');
    const facts = known.get(key) ?? labelFacts(labels);
    known.set(key, facts);
    return facts;
  };
}

export function laneOf({ state }: Pick<Issue, 'state'>, { status }: Pick<LabelFacts, 'status'>): LaneName {
  return state === 'closed' ? 'Complete' : STATUS[status ?? 'queued'][0];
}

function priorityOf(labels: readonly string[]): Priority | null {
  const found = labels.flatMap(
    (label) => /^(?:priority:)?-?(p[0-3])(?:-[a-z-]+)?$/.exec(normal(label))?.[1]?.toUpperCase() ?? [],
  );
  return (found.sort()[0] as Priority | undefined) ?? null;
}

/**
 * Returns the Type from labels with or without the `Type:` prefix. Prefers the types in TYPES, in that order.
 */
export function typeOf(labels: readonly string[]): string | null {
  return memberOf(labels, 'type:', TYPES);
}

function memberOf(labels: readonly string[], prefix: string, known: readonly string[]): string | null {
  const found = labels.map(normal).flatMap((name) => {
    if (name.startsWith(prefix)) return [name.slice(prefix.length).replace(/^-/, '')];
    return known.includes(name) ? [name] : [];
  });
  const rank = (name: string): number => (known.includes(name) ? known.indexOf(name) : known.length);
  return found.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))[0] ?? null;
}

/** Returns the names from the `Agent:` labels, sorted. */
export function agentsOf(labels: readonly string[]): string[] {
  return labels
    .filter((label) => /^agent:/i.test(label))
    .map((label) => label.slice('agent:'.length).trim())
    .filter((name) => name !== '')
    .sort((a, b) => (a < b ? -1 : 1));
}

const ORIGIN_FLAGS = ['core-sync', 'auto-native', 'auto-sweep'] as const;
/** Where an issue came from, shown as a badge. */
export type IssueSource = (typeof ORIGIN_FLAGS)[number] | 'reminder' | 'manual';

export function sourceOf(
  { title }: Pick<Issue, 'title'>,
  { origin, type }: Pick<LabelFacts, 'origin' | 'type'>,
): IssueSource {
  if (origin !== undefined) return origin;
  return type === 'reminder' || parseTitle(title).kind === 'reminder' ? 'reminder' : 'manual';
}

export function isStale(labels: readonly string[]): boolean {
  return labels.some((label) => normal(label) === 'stale');
}

/** Compares label names as GitHub does, ignoring case. */
export function sameLabel(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

export function hasLabel(labels: readonly string[], wanted: string): boolean {
  return labels.some((label) => sameLabel(label, wanted));
}

export function agentLabel(name: string): string {
  return `Agent:${name}`;
}

/** Returns the label for issues that the assistant can take, such as `nova-can-take`. */
export function canTakeLabel(assistant: string): string {
  return `${agentName(assistant)}-can-take`;
}

/** Converts a name for use in labels: lowercase, at most 30 characters, special characters as hyphens. */
export function agentName(name: string): string {
  const plainName = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^-+|(?<!-)-+$/g, '')
    .slice(0, 30);
  return plainName || 'agent';
}

export function statusLabels(labels: readonly string[]): string[] {
  return labels.filter((label) => /^status:/i.test(label));
}

/** Returns the label changes that leave the issue with only this Status. */
export function statusEdit(labels: readonly string[], status: IssueStatus) {
  const wanted = `Status:${status}`;
  const present = statusLabels(labels);
  return {
    add: hasLabel(present, wanted) ? [] : [wanted],
    remove: present.filter((label) => !sameLabel(label, wanted)),
  };
}

/**
 * Returns the Property configured for a project, or the Property with the project's name; null if neither
 * exists.
 */
export function propertyOfProject(project: string | null, map: Readonly<Record<string, string>>) {
  const name = (project ?? '').trim().toLowerCase();
  const entry = Object.entries(map).find(([key]) => key.trim().toLowerCase() === name);
  if (entry !== undefined) return entry[1].toLowerCase();
  return PROPERTIES.find((property) => property === normal(name)) ?? null;
}
