import * as v from 'valibot';

import { StewardError } from '../errors';
import { markOfTarget } from '../platform/files/stat';
import { closeIssue, snooze } from '../work/actions';
import { createOrQueue, newIssue, newReminder } from '../work/add';
import { type BoardView, boardView, columnsView, type Item } from '../work/board';
import { undo, undoable, type Undone } from '../work/capture/undo';
import { claimIssue } from '../work/claim';
import type { WorkDeps } from '../work/deps';
import { moveIssue } from '../work/edit';
import { PRIORITIES, STATUSES } from '../work/label';
import { refresh } from '../work/poll';
import { workStatus } from '../work/status';
import { cached, oneOf, type Opened, type Route } from './route';
import { writeRoute, type Written } from './write-route';

/** How long a view may be cached, in ms. Short, because views show whether the issues are stale. */
const CACHE_MS = 1000;

export interface WorkRoutesDeps {
  work: Opened<WorkDeps>;
  /** Returns the name used for your own claims. */
  you: () => Promise<string>;
}

/** Returns the routes for work. Reads use the cached issues; refreshes and writes use the network. */
export function workRoutes({ work, you }: WorkRoutesDeps): Route[] {
  return [
    boardRoute(work),
    cached('/api/work/columns', work, versionOf, columnsView),
    { method: 'GET', path: '/api/work/status', isLive: true, run: async () => workStatus(await work()) },
    { method: 'POST', path: '/api/work/refresh', run: async () => refresh(await work()) },
    {
      method: 'GET',
      path: '/api/work/captures',
      isLive: true,
      run: async () => {
        const deps = await work();
        return { captures: deps.workRepo().repo === undefined ? [] : undoable(deps, 1) };
      },
    },
    ...writeRoutes(work, you),
  ];
}

function versionOf({ paths, clock }: WorkDeps): string {
  return [markOfTarget(paths.cache), markOfTarget(paths.poll), Math.floor(clock.monotonic() / CACHE_MS)].join(
    ' ',
  );
}

/** The response to `GET /api/work`. Items include their raw labels only with `?full=1`. */
export type BoardDocument = Omit<BoardView, 'items'> & {
  items: (Omit<Item, 'labels'> & Partial<Pick<Item, 'labels'>>)[];
};

/** The ETag ignores `lastFetch`, which changes with every poll. */
function boardRoute(work: Opened<WorkDeps>): Route {
  const read = (isFull: boolean) =>
    cached(
      '/api/work',
      work,
      versionOf,
      (deps) => stableBoard(boardView(deps), isFull),
      (deps) => ({ lastFetch: boardView(deps).lastFetch }),
    );
  const [short, full] = [read(false), read(true)];
  return {
    ...short,
    serve: (request) => (oneOf(request.query, 'full', ['0', '1']) === '1' ? full : short).serve(request),
  };
}

function stableBoard(
  { lastFetch: _lastFetch, items, ...board }: BoardView,
  isFull: boolean,
): Omit<BoardDocument, 'lastFetch'> {
  return { ...board, items: isFull ? items : items.map(({ labels: _labels, ...item }) => item) };
}

const NUMBER = v.pipe(v.number(), v.safeInteger('Send a whole number.'), v.minValue(1));
const TEXT = v.pipe(v.string(), v.maxLength(60_000));
/** Number of recent prompts that can be undone; the same limit as in `steward work undo`. */
const MAX_PROMPTS = 50;
const SHORT = v.pipe(v.string(), v.maxLength(200));
/** The statuses to which an issue can be moved. Closing is excluded, because it requires evidence. */
const MOVES = STATUSES.filter((status) => status !== 'done');

/** Each route runs the same function as the corresponding command. */
function writeRoutes(work: Opened<WorkDeps>, you: WorkRoutesDeps['you']): Route[] {
  const priority = v.optional(v.picklist(PRIORITIES));
  const move = v.picklist(MOVES);
  return [
    write('claim', { number: NUMBER, agent: v.optional(SHORT) }, async ({ number, agent }) =>
      claimIssue(await work(), { number, agent: agent ?? (await you()) }),
    ),
    write(
      'move',
      { number: NUMBER, status: move, from: v.optional(move), reason: v.optional(TEXT) },
      async (input) => moveIssue(await work(), input),
    ),
    write('snooze', { number: NUMBER, when: SHORT }, async (input) => snooze(await work(), input)),
    write('close', { number: NUMBER, evidence: TEXT }, async (input) => closeIssue(await work(), input)),
    write(
      'add',
      {
        title: TEXT,
        body: v.optional(TEXT),
        type: v.optional(SHORT, 'feature'),
        status: v.optional(v.picklist(STATUSES)),
        priority,
        property: v.optional(SHORT),
      },
      async (input) => createOrQueue(await work(), newIssue(input)),
    ),
    write('remind', { text: TEXT, at: v.optional(SHORT), priority }, async (input) => {
      const deps = await work();
      return createOrQueue(deps, await newReminder(deps, input));
    }),
    write('undo', { keys: v.pipe(v.array(SHORT), v.minLength(1), v.maxLength(200)) }, async ({ keys }) => ({
      undone: await undoKeys(await work(), new Set(keys)),
    })),
  ];
}

function undoKeys(deps: WorkDeps, keys: ReadonlySet<string>): Promise<Undone[]> {
  const captures = undoable(deps, MAX_PROMPTS).filter(({ key }) => keys.has(key));
  if (captures.length > 0) return undo(deps, captures);
  throw new StewardError('conflict', 'These captures have already been undone.', {
    hint: 'See `steward work list`.',
  });
}

function write<T extends v.ObjectEntries>(name: string, entries: T, run: (input: Written<T>) => unknown) {
  return writeRoute(`/api/work/${name}`, entries, run);
}
