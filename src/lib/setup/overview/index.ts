import type { Context } from '../../app/context';
import { jobsHere } from '../../app/schedule';
import { daemonReport } from '../../app/serve';
import { sharedArea } from '../../sense/shared-area';
import { VERSION } from '../../app/version';
import type { Config } from '../../config/schema';
import { toStewardError } from '../../errors';
import { exists } from '../../platform/files/folder';
import { palette, toAscii, wrap } from '../../platform/terminal/format';
import type { Terminal } from '../../platform/terminal/stdio';
import { clean } from '../../platform/terminal/terminal';
import { padEnd } from '../../platform/terminal/text-width';
import { localTimes } from '../../platform/time/day-words';
import { PARTS, type Part, type PartState, type Row, type Sources } from './parts';

/** `steward status --json` */
export interface Overview {
  userArea: string;
  version: string;
  /** False: nothing of steward is on this machine yet. */
  setUp: boolean;
  parts: Part[];
}

/**
 * Every part, with the next step for each that is off. Reads files and asks a running daemon; no network, nothing is
 * written. A part that fails hides no other; with an invalid configuration its row is the only one.
 */
export async function overview(context: Context): Promise<Overview> {
  const { area } = context;
  const head = { userArea: area.root, version: VERSION, setUp: exists(area.root) };
  let config: Config;
  try {
    config = (await context.loadConfig()).config;
  } catch (error) {
    return { ...head, parts: [{ id: 'configuration', ...inError(error, 'steward config path') }] };
  }
  // Several parts use these: a failure is shown in the row of its own part.
  const failures = new Map<string, unknown>();
  const gathered = async <T>(id: string, otherwise: T, get: () => Promise<T>): Promise<T> => {
    try {
      return await get();
    } catch (failure) {
      failures.set(id, failure);
      return otherwise;
    }
  };
  const sources: Sources = {
    context,
    config,
    daemon: await gathered('daemon', { running: false, cliVersion: VERSION }, () => daemonReport(context)),
    scheduler: await gathered<Sources['scheduler']>('jobs', 'unknown', () => jobsHere(context, config.sense)),
    localTime: localTimes(context.clock, config.user.timezone),
  };
  const parts = await Promise.all(
    Object.entries(PARTS).map(async ([id, look]): Promise<Part> => {
      try {
        if (failures.has(id)) throw failures.get(id);
        return { id, ...(await look(sources)) };
      } catch (error) {
        return { id, ...inError(error, null) };
      }
    }),
  );
  return { ...head, parts: [...areaPart(context), ...parts] };
}

/** A row only if the area is shared, or that is unknown. */
function areaPart(context: Context): Part[] {
  const next = 'steward doctor area';
  try {
    const shared = sharedArea(context);
    return shared === undefined ? [] : [{ id: 'area', state: 'needs-you', summary: shared, next }];
  } catch (error) {
    return [{ id: 'area', ...inError(error, next) }];
  }
}

function inError(error: unknown, next: string | null): Row {
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
/** On a narrower terminal the facts are below their part. */
const ONE_LINE_COLUMNS = 60;
const MIN_COLUMNS = 24;

/** A row a part; below it the next command. */
export function overviewText({ parts, setUp }: Overview, terminal: Terminal): string {
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const first = 'steward is not set up on this machine yet. "steward init" does it.';
  const lines = [
    ...(setUp ? [] : [...wrap(first, columns), '']),
    ...parts.flatMap((part) => partLines(part, columns, terminal)),
  ];
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return terminal.unicode ? text : toAscii(text);
}

function partLines({ id, state, summary, next }: Part, columns: number, terminal: Terminal): string[] {
  const { neutral, attention, strong } = palette(terminal);
  const isQuiet = state === 'off' || state === 'muted';
  const paint = state === 'ok' ? (text: string) => text : isQuiet ? neutral : attention;
  const isWide = columns >= ONE_LINE_COLUMNS;
  const indent = isWide ? ID_COLUMNS + STATE_COLUMNS : 2;
  const below = ' '.repeat(indent);
  const facts = summary.split('\n').flatMap((line) => wrap(clean(line), columns - indent));
  const name = id.length < ID_COLUMNS ? padEnd(id, ID_COLUMNS) : `${id} `;
  const head = `${name}${paint(padEnd(WORDS[state], ID_COLUMNS + STATE_COLUMNS - name.length))}`;
  const [first = '', ...rest] = isWide ? facts : ['', ...facts];
  const step = next === null ? [] : [`${below}${strong(clean(next))}`];
  return [`${head}${first}`, ...rest.map((line) => below + line), ...step];
}
