import { isObject, textOf } from '../../platform/files/json-object';
import type { DayBounds } from '../../platform/time/time';
import { FOCUS_TYPES, type SenseEvent } from '../event';
import { awaySpan, focusMs, sampleTally, type FocusSample } from '../focus-samples';
import { commonSpelling } from '../focus-tally';
import { attentionRows, type Piece } from './attention';
import { agentCells, answersIn, parallelIn } from './cells';
import { minutesIn, type DayLedger } from './model';
import { merged, overlapping, without, within, type Span } from './spans';
import { frontOf, stayAt, timelineTally, type Timeline } from './timeline';

/**
 * Maximum gap between events. A longer gap means that the machine was asleep or that no captures were
 * running.
 */
const MAX_GAP_MS = 30 * 60_000;

/**
 * Computes a day's ledger from its events, in any order. Counts agents' time only while captures were
 * running.
 */
export function ledgerTally(pollIntervalSec: number) {
  const samples = sampleTally(pollIntervalSec);
  const away: Span[] = [];
  const times = new Set<number>();
  const timeline = timelineTally(pollIntervalSec);
  return {
    add(ms: number, event: Readonly<SenseEvent>): void {
      if (FOCUS_TYPES.has(event.type)) samples.add(ms, event);
      // An extension reports sites whether or not captures are running.
      if (event.type === 'web-focus') return;
      const activityMs = event.type === 'agent-session' ? pollIntervalSec * 1000 : 0;
      const spanMs = event.type === 'app-focus' ? focusMs(event, pollIntervalSec) : activityMs;
      times.add(ms).add(ms - spanMs);
      if (event.type === 'away') away.push(...awaySpan(ms, event));
      else if (event.type === 'agent-session' || event.type === 'session-state') timeline.add(ms, event);
    },
    samples: samples.result,
    /** Returns the sessions' states, and the spans in which captures were running. */
    sessions: () => ({ timeline: timeline.result(), covered: coveredBy([...times]) }),
    result(isOver: boolean, { startMs, endMs }: DayBounds, counted = samples.result()): DayLedger {
      const day: Span[] = [[startMs, endMs]];
      const covered = within(coveredBy([...times, ...(isOver ? [endMs] : [])]), day);
      return ledgerOf(timeline.result(), samplesOf(counted), merged(away), covered);
    },
    /** Returns your time as intervals, each with its repository, branch and session, if known. */
    pieces(): Piece[] {
      const sessions = timeline.result();
      return samplesOf(samples.result()).flatMap((sample) => piecesOf(sessions, sample));
    },
  };
}

function ledgerOf(
  timeline: Timeline,
  samples: readonly Sample[],
  away: readonly Span[],
  covered: readonly Span[],
): DayLedger {
  const pieces = samples.flatMap((sample) => piecesOf(timeline, sample));
  const proofs = timeline.proofs.map(({ span }) => span);
  const { agents, apps, cells } = agentCells(timeline, {
    covered,
    away,
    desk: merged([...samples.map(({ span }) => span), ...proofs]),
    pieces,
  });
  return {
    attention: attentionRows(pieces),
    agents,
    apps,
    cells,
    heldUpMinutes: minutesIn(cells, 'waiting', 'desk'),
    answers: answersIn(timeline),
    parallel: parallelIn(timeline, covered),
  };
}

/** Returns the spans in which captures were running, based on the event times. */
export function coveredBy(times: readonly number[]): Span[] {
  const sorted = [...times].sort((a, b) => a - b);
  return merged(
    sorted.flatMap((ms, i): Span[] => {
      const next = sorted[i + 1] ?? ms;
      return next > ms && next - ms <= MAX_GAP_MS ? [[ms, next]] : [];
    }),
  );
}

/** Returns the samples with one spelling for each application. */
function samplesOf(counted: readonly FocusSample[]): Sample[] {
  const spelling = commonSpelling(counted.map(({ app, from, to }) => [app, to - from]));
  return counted.map((sample) => sampleOf(sample, spelling(sample.app)));
}

function sampleOf({ from, to, event: { repo, detail = {} } }: FocusSample, app: string) {
  const { branch, otherFolder, sessions } = detail;
  const listed: unknown[] = Array.isArray(sessions) ? sessions : [];
  return {
    span: [from, to] as Span,
    app,
    repo: textOf(repo) ?? null,
    otherFolder: otherFolder === true && textOf(repo) === undefined,
    branch: textOf(branch) ?? null,
    /** Sessions in the focused pane. */
    sessions: listed.flatMap((item) => {
      const id = textOf(isObject(item) ? item['id'] : item);
      return id === undefined
        ? []
        : [{ id, assistant: (isObject(item) && textOf(item['assistant'])) || null }];
    }),
  };
}

type Sample = ReturnType<typeof sampleOf>;

function piecesOf(timeline: Timeline, sample: Sample): Piece[] {
  const ids = sample.sessions.map(({ id }) => id);
  const [from, to] = sample.span;
  const isInside = (ms: number): boolean => ms > from && ms < to;
  const stays = ids.length < 2 ? [] : ids.flatMap((id) => timeline.stays.get(id) ?? []);
  const cuts = stays.flatMap(({ ms, untilMs }) => [ms, untilMs]);
  const starts = [...new Set([from, ...cuts.filter(isInside)])].sort((a, b) => a - b);
  const proofs = overlapping(timeline.proofs, sample.span, ({ span }) => span);
  const sampled = starts.flatMap((start, i): Piece[] => {
    const session = frontOf(timeline, ids, start);
    const spans = without([[start, starts[i + 1] ?? to]], merged(proofs.map(({ span }) => span)));
    return spans.map((span) => ({ ...placeOf(timeline, sample, session, span[0]), span }));
  });
  const proven = proofs.flatMap(({ session, span }): Piece[] =>
    within([span], [sample.span]).map((part) => ({
      // If the session isn't in the sampled pane, the prompt was sent in another pane, so ignore the sampled
      // pane's folder.
      ...placeOf(timeline, ids.includes(session) ? sample : { ...sample, ...UNSEEN }, session, span[1]),
      span: part,
    })),
  );
  return [...sampled, ...proven];
}

const UNSEEN = { repo: null, otherFolder: false, branch: null, sessions: [] };

function placeOf(
  timeline: Timeline,
  sample: Sample,
  session: string | undefined,
  ms: number,
): Omit<Piece, 'span'> {
  const { app, sessions } = sample;
  const stay = session === undefined ? undefined : stayAt(timeline, session, ms);
  const { repo, otherFolder } = sample.repo !== null || sample.otherFolder ? sample : (stay ?? sample);
  const branch = sample.branch ?? (repo === stay?.repo ? stay?.branch : undefined);
  return {
    app,
    otherFolder,
    repo: otherFolder ? null : repo,
    branch: otherFolder ? null : (branch ?? null),
    session: session ?? null,
    assistant: sessions.find(({ id }) => id === session)?.assistant ?? stay?.assistant ?? null,
  };
}
