import type { Lane } from '../config/schema';
import { toStewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { isObject, parseObject } from '../platform/files/json-object';
import { markOfTarget } from '../platform/files/stat';
import {
  boardFrame,
  groupItems,
  isItem,
  isUpToDate,
  itemsOf,
  type BoardDeps,
  type BoardView,
  type Item,
} from './board';
import type { CachePaths } from './cache';

/** How many of a lane a terminal shows at most. */
export const LANE_ROWS = 10;

/** One lane: how many are in it, and its first ones. */
export interface LaneSummary {
  count: number;
  items: Item[];
}

/** The board as a terminal shows it: not every issue of years. */
export interface BoardSummary extends Omit<BoardView, 'columns' | 'items'> {
  open: number;
  total: number;
  /** The configured ones. */
  lanes: Partial<Record<Lane, LaneSummary>>;
}

type Counted = Pick<BoardSummary, 'open' | 'total' | 'lanes'>;

const VERSION = 2;
const MAX_BYTES = 1024 * 1024;

/** What the items come to. */
export function counted(items: readonly Item[], columns: readonly Lane[]): Counted {
  const groups = groupItems(items, columns);
  const lanes = Object.fromEntries(
    columns.map((lane) => {
      const own = groups[lane] ?? [];
      return [lane, { count: own.length, items: own.slice(0, LANE_ROWS) }];
    }),
  );
  const open = items.filter(({ state }) => state === 'open').length;
  return { open, total: items.length, lanes };
}

/**
 * `work board` in the terminal. What it shows is kept beside the cache (`work/board.json`) with the mark of the cache
 * that it was made of and the lanes: as long as both are the same, the cache need not be read.
 */
export function boardSummary(deps: BoardDeps & { paths: CachePaths }): BoardSummary {
  const workRepo = deps.workRepo();
  if (workRepo.repo === undefined) {
    return { ...boardFrame(deps), ...counted([], deps.config.KANBAN_COLUMNS) };
  }
  const { paths, clock, config } = deps;
  const rest = { paths, clock, config, workRepo: () => workRepo };
  // Taken before the cache is read: what is written meanwhile has another one.
  const made = madeOf(deps, workRepo.repo);
  const kept = readKept(paths.board, made);
  if (kept !== undefined) return { ...boardFrame(rest), ...kept };
  const held = deps.cache(workRepo.repo);
  const cache = (): typeof held => held;
  const frame = boardFrame({ ...rest, cache });
  const fresh = counted(itemsOf({ config, cache }, workRepo), config.KANBAN_COLUMNS);
  // Of a cache that says nothing nothing is kept: whoever finds a summary relies on it.
  if (frame.lastFetch !== null) writeKept(paths.board, { version: VERSION, of: made, counted: fresh });
  return { ...frame, ...fresh };
}

/** The same where the board is up to date and its summary is kept; undefined where there is more to do. */
export function keptSummary(deps: Omit<BoardDeps, 'cache'>): BoardSummary | undefined {
  const { repo } = deps.workRepo();
  const frame = boardFrame(deps);
  if (repo === undefined || !isUpToDate(frame, deps)) return undefined;
  const kept = readKept(deps.paths.board, madeOf(deps, repo));
  return kept === undefined ? undefined : { ...frame, ...kept };
}

function madeOf({ paths, config }: Pick<BoardDeps, 'paths' | 'config'>, repo: string): string {
  return [markOfTarget(paths.cache), repo, ...config.KANBAN_COLUMNS].join(' ');
}

function readKept(path: string, made: string): Counted | undefined {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
  const counted = stored?.['version'] === VERSION && stored['of'] === made ? stored['counted'] : undefined;
  return isCounted(counted) ? counted : undefined;
}

function isCounted(value: unknown): value is Counted {
  if (!isObject(value) || !isObject(value['lanes'])) return false;
  const isCount = (one: unknown): boolean => Number.isSafeInteger(one) && (one as number) >= 0;
  const isLane = (lane: unknown): boolean =>
    isObject(lane) && isCount(lane['count']) && Array.isArray(lane['items']) && lane['items'].every(isItem);
  return [value['open'], value['total']].every(isCount) && Object.values(value['lanes']).every(isLane);
}

/** A look at the board must not fail for what only makes the next look faster: then that one counts again. */
function writeKept(path: string, value: object): void {
  try {
    replaceFile(path, `${JSON.stringify(value)}\n`);
  } catch (error) {
    if (toStewardError(error).kind === 'internal') throw error;
  }
}
