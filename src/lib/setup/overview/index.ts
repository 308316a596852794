import type { Context } from '../../app/context';
import { jobsHere } from '../../app/schedule';
import { daemonReport } from '../../app/serve';
import { sharedArea } from '../../app/shared-area';
import { VERSION } from '../../app/version';
import type { Config } from '../../config/schema';
import { toStewardError } from '../../errors';
import { exists } from '../../platform/files/folder';
import { palette, toAscii, wrap } from '../../platform/terminal/format';
import type { Terminal } from '../../platform/terminal/stdio';
import { clean } from '../../platform/terminal/terminal';
import { padEnd } from '../../platform/terminal/text-width';
import { localTimes } from '../../platform/time/local-times';
import {
  type Overview,
  type Part,
  type PartState,
  type Sources,
  agentsPart,
  daemonPart,
  goalsPart,
  hooksPart,
  jobsPart,
  notifyPart,
  queuePart,
  sensePart,
  sessionsPart,
  workPart,
} from './parts';

/** The rows in their order; a new part is a function and a row. */
const PARTS: readonly (readonly [
  id: string,
  look: (sources: Sources) => Omit<Part, 'id'> | Promise<Omit<Part, 'id'>>,
])[] = [
  ['sense', sensePart],
  ['work', workPart],
  ['notify', notifyPart],
  ['queue', queuePart],
  ['agents', agentsPart],
  ['sessions', sessionsPart],
  ['goals', goalsPart],
  ['daemon', daemonPart],
  ['hooks', hooksPart],
  ['jobs', jobsPart],
];

/**
 * Every part in one screen, with the next step for each that is off. Files are read, and the daemon is
 * asked over its socket, where it runs; nothing goes to the network, nothing is written. A part that cannot be looked
 * at says so and hides no other; a configuration that does not load is a row of its own, and the parts then have none.
 */
export async function overview(context: Context, root: string): Promise<Overview> {
  const { area } = context;
  const head = { userArea: area.root, version: VERSION, setUp: exists(area.root) };
  let config: Config;
  let zone: string;
  try {
    config = (await context.loadConfig()).config;
    zone = config.user.timezone;
  } catch (error) {
    return { ...head, parts: [{ id: 'configuration', ...inError(error, 'steward config path') }] };
  }
  const daemon = await gathered(() => daemonReport(context));
  const scheduler = await gathered(() => jobsHere(context, config.sense));
  const sources: Sources = {
    context,
    root,
    config,
    daemon: 'value' in daemon ? daemon.value : { running: false, cliVersion: VERSION },
    scheduler: 'value' in scheduler ? scheduler.value : 'unknown',
    localTime: localTimes(context.clock, zone),
  };
  const parts = await Promise.all(
    PARTS.map(async ([id, look]): Promise<Part> => {
      try {
        if (id === 'daemon' && 'failure' in daemon) throw daemon.failure;
        if (id === 'jobs' && 'failure' in scheduler) throw scheduler.failure;
        return { id, ...(await look(sources)) };
      } catch (error) {
        return { id, ...inError(error, null) };
      }
    }),
  );
  return { ...head, parts: [...areaPart(context), ...parts] };
}

/** A row only where the area is shared, since no part that it holds is whole then, or where that cannot be told. */
function areaPart(context: Context): Part[] {
  const next = 'steward doctor area';
  try {
    const shared = sharedArea(context);
    return shared === undefined ? [] : [{ id: 'area', state: 'needs-you', summary: shared, next }];
  } catch (error) {
    return [{ id: 'area', ...inError(error, next) }];
  }
}

/** What several parts ask for: a failure belongs to one of them, and is no reason to tell nothing of the others. */
async function gathered<T>(get: () => Promise<T>): Promise<{ value: T } | { failure: unknown }> {
  try {
    return { value: await get() };
  } catch (failure) {
    return { failure };
  }
}

function inError(error: unknown, next: string | null): Omit<Part, 'id'> {
  const { kind, message, hint } = toStewardError(error);
  if (kind === 'internal') throw error;
  // A list of problems ends without a stop.
  const words = /[.!?]$/.test(message) ? message : `${message}.`;
  return { state: 'error', summary: hint === undefined ? words : `${words} ${hint}`, next };
}

const WORDS: Readonly<Record<PartState, string>> = {
  ok: 'ok',
  muted: 'muted',
  off: 'off',
  'needs-you': 'needs you',
  error: 'error',
};
const ID_COLUMNS = 10;
const STATE_COLUMNS = 11;
/** Narrower, the facts stand below their part. */
const ONE_LINE_COLUMNS = 60;
const MIN_COLUMNS = 24;

/** `steward status`: a row a part; below it the command that comes next, where there is one. */
export function overviewText({ parts, setUp }: Overview, terminal: Terminal): string {
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const lines = [
    ...(setUp
      ? []
      : [...wrap('steward is not set up on this machine yet. "steward init" does it.', columns), '']),
    ...parts.flatMap((part) => partLines(part, columns, terminal)),
  ];
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return terminal.unicode ? text : toAscii(text);
}

function partLines({ id, state, summary, next }: Part, columns: number, terminal: Terminal): string[] {
  const colors = palette(terminal);
  const paint =
    state === 'ok'
      ? (text: string): string => text
      : state === 'off' || state === 'muted'
        ? colors.neutral
        : colors.attention;
  const isWide = columns >= ONE_LINE_COLUMNS;
  const indent = isWide ? ID_COLUMNS + STATE_COLUMNS : 2;
  const facts = summary.split('\n').flatMap((line) => wrap(clean(line), columns - indent));
  const head = id.length < ID_COLUMNS ? padEnd(id, ID_COLUMNS) : `${id} `;
  const word = paint(padEnd(WORDS[state], ID_COLUMNS + STATE_COLUMNS - head.length));
  const below = ' '.repeat(indent);
  const step = next === null ? [] : [`${below}${colors.strong(clean(next))}`];
  if (!isWide) return [`${head}${word}`, ...facts.map((line) => below + line), ...step];
  return [`${head}${word}${facts[0] ?? ''}`, ...facts.slice(1).map((line) => below + line), ...step];
}
