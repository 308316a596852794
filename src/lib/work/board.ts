import type { LaneName, WorkRepoConfig } from '../config/schema';
import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { parseIso } from '../platform/time/clock';
import type { WorkDeps } from './deps';
import { slugOf, type Issue } from './issue';
import {
  agentName,
  hasLabel,
  labelFacts,
  labelReader,
  laneOf,
  sourceOf,
  STATUSES,
  TYPES,
  type LabelFacts,
} from './label';
import { refresh, staleness } from './poll';

/** The response to GET /api/work, and the output of `work board --json`. */
export interface BoardView {
  config: { repo: string | null; columns: LaneName[]; pollIntervalSeconds: number; you?: string | undefined };
  columns: Record<string, number[]>;
  items: Item[];
  lastFetch: string | null;
  stale: boolean;
  staleReason: string | null;
  setupRequired: boolean;
  /** The commands that set up work tracking; empty after setup. */
  steps: string[];
}

export const SETUP_STEPS: readonly string[] = [
  'gh auth login',
  'steward work setup OWNER/REPO --create',
  'steward work board',
];

export function toItem(
  { identity, ...issue }: Issue,
  columns: readonly LaneName[],
  { origin, ...facts }: LabelFacts = labelFacts(issue.labels),
) {
  const lane = laneOf(issue, facts);
  return {
    ...issue,
    ...facts,
    lane: columns.includes(lane) ? lane : 'Queued',
    source: sourceOf(issue, { origin, type: facts.type }),
    slug: slugOf({ identity }),
  };
}

/**
 * An issue as shown on the board and in GET /api/work. Label values omit the prefix: `in-progress`, `P1`,
 * `website`.
 */
export type Item = ReturnType<typeof toItem>;

/** Groups items by lane. Sorts completed items newest first, and other items by urgency. */
export function groupItems(items: readonly Item[], columns: readonly LaneName[]): Record<string, Item[]> {
  const groups = new Map<string, Item[]>(columns.map((lane) => [lane, []]));
  for (const item of items) groups.get(item.lane)?.push(item);
  for (const [lane, own] of groups) own.sort(lane === 'Complete' ? byCompletion : byUrgency);
  return Object.fromEntries(groups);
}

/** Sorts by priority, then by age, oldest first. Items without a priority come last. */
export function byUrgency(a: Item, b: Item): number {
  const [x, y] = [a.priority ?? 'P9', b.priority ?? 'P9'];
  return x === y ? a.number - b.number : x < y ? -1 : 1;
}

export function byCompletion(a: Item, b: Item): number {
  const at = (item: Item): string => item.closedAt ?? item.updatedAt;
  return at(a) === at(b) ? b.number - a.number : at(a) < at(b) ? 1 : -1;
}

type BoardDeps = Pick<WorkDeps, 'paths' | 'clock' | 'config' | 'cache' | 'workRepo' | 'yourName'>;

/** Returns the cached board. Before setup, returns the setup steps. */
export function boardView(deps: BoardDeps): BoardView {
  const workRepo = deps.workRepo();
  const items = itemsOf(deps, workRepo);
  const groups = Object.entries(groupItems(items, deps.config.KANBAN_COLUMNS));
  return {
    config: {
      repo: workRepo.repo ?? null,
      columns: [...deps.config.KANBAN_COLUMNS],
      pollIntervalSeconds: deps.config.POLL_INTERVAL_SECONDS,
      you: deps.yourName && agentName(deps.yourName),
    },
    columns: Object.fromEntries(groups.map(([lane, own]) => [lane, own.map(({ number }) => number)])),
    items,
    ...staleness(deps, workRepo),
    setupRequired: workRepo.repo === undefined,
    steps: workRepo.repo === undefined ? [...SETUP_STEPS] : [],
  };
}

/** Returns the board, refreshed if due or requested. If the refresh fails, marks the board as stale. */
export async function currentBoard(deps: WorkDeps, options: { refresh: boolean }): Promise<BoardView> {
  const board = boardView(deps);
  if (board.setupRequired || (isUpToDate(board, deps) && !options.refresh)) return board;
  const { ok, reason } = await refresh(deps);
  const now = boardView(deps);
  // If the failure could not be saved, the cached board doesn't contain its reason, so add the reason here.
  if (ok || reason === undefined || now.staleReason?.startsWith(reason) === true) return now;
  return { ...now, stale: true, staleReason: reason };
}

function isUpToDate({ stale, lastFetch }: BoardView, { clock, config }: BoardDeps): boolean {
  const age = clock.now() - (parseIso(lastFetch ?? '') ?? -Infinity);
  return !stale && age >= 0 && age < config.POLL_INTERVAL_SECONDS * 1000;
}

/** Returns the response to GET /api/work/columns: `{LANE: [item…]}`. */
export function columnsView(deps: BoardDeps): Record<string, Item[]> {
  return groupItems(itemsOf(deps, deps.workRepo()), deps.config.KANBAN_COLUMNS);
}

/** Returns whether an item is a personal reminder. Agents and reports skip personal reminders. */
export function isReminder({ type, source }: Pick<Item, 'type' | 'source'>): boolean {
  return type === 'reminder' || source === 'reminder';
}

export function itemsOf(deps: Pick<WorkDeps, 'config' | 'cache'>, { repo }: WorkRepoConfig): Item[] {
  if (repo === undefined) return [];
  const factsOf = labelReader();
  return deps
    .cache(repo)
    .issues.map((issue) => toItem(issue, deps.config.KANBAN_COLUMNS, factsOf(issue.labels)));
}

/** Returns a function that looks up an issue in the stored list. A branch may name an issue of another repository. */
export function issueStates(deps: Pick<WorkDeps, 'config' | 'cache' | 'workRepo'>) {
  const repo = deps.workRepo();
  const name = repo.repo?.split('/')[1] ?? '';
  const states = new Map(itemsOf(deps, repo).map(({ number, state }) => [number, state]));
  return (key: string) => {
    const [place = '', number] = key.split('#');
    if (number === undefined) return [];
    const isOurs = place === '' || place === name;
    return [{ key, state: (isOurs ? states.get(Number(number)) : undefined) ?? ('unknown' as const) }];
  };
}

export interface Filter {
  state?: 'open' | 'closed' | 'all';
  lane?: string;
  status?: string;
  type?: string;
  priority?: string;
  property?: string;
  agent?: string;
  /** Words that the title must contain (case-insensitive). */
  search?: string;
}

/** Throws `usage` for a lane, Status or Type that is neither built in nor used on the board. */
export function checkFilter({ lane, status, type }: Filter, { columns, items }: BoardView): void {
  const check = (what: string, value: string | undefined, known: readonly string[]): void => {
    if (value === undefined || hasLabel(known, value)) return;
    throw new StewardError('usage', `Unknown ${what} "${clean(value)}".`, {
      hint: `Use ${known.join(', ')}.`,
    });
  };
  check('lane', lane, Object.keys(columns));
  check('Status', status, STATUSES);
  check('Type', type, [...new Set([...TYPES, ...items.flatMap((item) => item.type ?? [])])]);
}

const FILTERED = ['lane', 'status', 'type', 'priority', 'property'] as const;

/** Returns the items that match all filters, most urgent first. */
export function filterItems(items: readonly Item[], filter: Filter): Item[] {
  const matches = (wanted: string | undefined, ...values: (string | null)[]): boolean =>
    wanted === undefined || values.some((value) => value?.toLowerCase() === wanted.toLowerCase());
  const words = (filter.search ?? '').toLowerCase().split(/\s+/);
  const state = filter.state ?? 'open';
  return items
    .filter(
      (item) =>
        (state === 'all' || item.state === state) &&
        FILTERED.every((key) => matches(filter[key], item[key])) &&
        matches(filter.agent, ...item.agents) &&
        words.every((word) => item.title.toLowerCase().includes(word)),
    )
    .sort(byUrgency);
}

/**
 * Returns the items that an agent can take next: ready or queued items, except reminders. Items labeled for
 * the assistant come first.
 */
export function readyItems(items: readonly Item[], canTake: string): Item[] {
  const rank = (item: Item): number => (hasLabel(item.labels, canTake) ? 0 : 1);
  return items
    .filter(({ state, status }) => state === 'open' && (status === 'ready' || status === 'queued'))
    .filter((item) => !isReminder(item))
    .sort((a, b) => rank(a) - rank(b) || byUrgency(a, b));
}
