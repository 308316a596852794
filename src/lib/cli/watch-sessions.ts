import { goTo, openSessions, placesNow } from '../app/sessions';
import type { Context } from '../app/context';
import { toStewardError } from '../errors';
import { marksOf } from '../platform/files/stat';
import { toAscii } from '../platform/terminal/fold';
import { openScreen, type Screen } from '../platform/terminal/screen';
import type { Terminal } from '../platform/terminal/stdio';
import { localTimes } from '../platform/time/day-words';
import { namesFolder } from '../sessions/names';
import { emptySessions, isLive, type SessionsState } from '../sessions/session';
import { noteLost, runningSessions, type SessionsDeps } from '../sessions/state';
import { withTurnSigns, type SeenLogs } from '../sessions/turn-signs';
import { lostSessions } from '../sessions/rows';
import { EMPTY_LIST, pressKey, watchedRows, watchFrame, withRows, type WatchList } from '../sessions/watch';

const CHECK_MS = 250;
/**
 * How often to refresh even without file changes, in ms, because session ages and process states change over
 * time.
 */
const REFRESH_MS = 2_000;
const PLACES_MS = 30_000;

interface Watching {
  context: Context;
  deps: SessionsDeps;
  terminal: Terminal;
  screen: Screen;
  fail: (error: unknown) => void;
  list: WatchList;
  state: SessionsState;
  places: ReadonlyMap<string, string>;
  asked: { slugs: string; atMs: number };
  seen: { marks: string; atMs: number };
  /** The assistants' logs that have been read. */
  logs: SeenLogs;
}

/** Runs `steward sessions --watch` on a terminal until you quit. */
export async function watchSessions(context: Context, terminal: Terminal): Promise<void> {
  const deps = await openSessions(context);
  await new Promise<void>((resolve, reject) => {
    const screen = openScreen({
      key: (key) => guarded(() => press(at, key) === 'quit' && end(resolve)),
      resize: () => guarded(() => draw(at)),
    });
    const at: Watching = {
      context,
      deps,
      terminal,
      screen,
      fail,
      list: EMPTY_LIST,
      state: emptySessions(),
      places: new Map(),
      asked: { slugs: '', atMs: -Infinity },
      seen: { marks: '', atMs: -Infinity },
      logs: new Map(),
    };
    const end = (settle: () => void): void => {
      clearInterval(timer);
      screen.close();
      settle();
    };
    function fail(error: unknown): void {
      end(() => reject(toStewardError(error)));
    }
    const guarded = (step: () => unknown): void => {
      try {
        step();
      } catch (error) {
        fail(error);
      }
    };
    const timer = setInterval(() => guarded(() => check(at)), CHECK_MS);
    guarded(() => check(at));
  });
}

function check(at: Watching): void {
  const { deps } = at;
  const marks = marksOf([deps.area.workEvents, deps.area.sessionsState, namesFolder(deps.area.machine)]).text;
  const atMs = deps.clock.monotonic();
  if (marks === at.seen.marks && atMs - at.seen.atMs < REFRESH_MS) return;
  at.seen = { marks, atMs };
  at.state = withTurnSigns(deps, () => runningSessions(deps), at.logs);
  void noteLost(deps, lostSessions(at.state)).then((problem) => {
    if (problem !== undefined) report(at, problem);
  }, at.fail);
  askPlaces(at);
  draw(at);
}

function askPlaces(at: Watching): void {
  const { deps, context, state } = at;
  const live = Object.values(state.sessions).filter((session) => isLive(session, deps.clock.now()));
  const slugs = live.map(({ slug }) => slug).join();
  const atMs = deps.clock.monotonic();
  if (slugs === at.asked.slugs && atMs - at.asked.atMs < PLACES_MS) return;
  at.asked = { slugs, atMs };
  void placesNow(context, live).then(
    (places) => {
      at.places = places;
      draw(at);
    },
    (error: unknown) => report(at, toStewardError(error).message),
  );
}

function report(at: Watching, message: string): void {
  at.list = { ...at.list, message };
  draw(at);
}

function draw(at: Watching): void {
  const { deps, places, terminal, screen, state } = at;
  const nowMs = deps.clock.now();
  at.list = withRows(at.list, watchedRows(state, { nowMs, places }));
  const options = { ...terminal, ...screen.size(), nowMs, localTime: localTimes(deps.clock) };
  const lines = watchFrame(at.list, state, options);
  screen.draw(terminal.unicode ? lines : lines.map(toAscii));
}

function press(at: Watching, key: string): 'quit' | undefined {
  const [list, action] = pressKey(at.list, key);
  at.list = list;
  if (action === 'quit') return 'quit';
  if (action === 'go') void jump(at);
  draw(at);
  return undefined;
}

async function jump(at: Watching): Promise<void> {
  const row = at.list.rows.find(({ slug }) => slug === at.list.selected);
  const session = at.state.sessions[row?.slug ?? ''];
  if (row === undefined || session === undefined) return;
  let message: string;
  try {
    const { name, via, target } = await goTo(at.context, session, row.name);
    message = `Brought ${name} to the front (${via} ${target}).`;
  } catch (error) {
    message = toStewardError(error).message;
  }
  report(at, message);
}
