import type { Context } from '../app/context';
import { jobsHere } from './jobs';
import { daemonReport } from '../daemon/remote';
import { status as syncStatus } from './sync/change';
import { VERSION } from '../platform/version';
import type { Config } from '../config/schema';
import { throwIfBug } from '../errors';
import { failure, ok, warning, withHint, type Finding } from '../platform/check';
import { exists } from '../platform/files/folder';
import { palette, plural, sentence, wrap, joinLines } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { padEnd } from '../platform/terminal/text-width';
import { localTimes } from '../platform/time/day-words';
import { sharedArea } from '../sense/shared-area';
import { damagedText, pendingTexts } from '../sync/checks';
import { ROWS, type Sources } from './status-rows';

/** The worst finding of a part. `fix` is the command to run next, or null. */
export type StatusPart = ReturnType<typeof partOf>;

/** The output of `steward status --json`. */
export type Overview = Awaited<ReturnType<typeof overview>>;

/**
 * Returns the state of each part, from files and the daemon. Writes nothing and doesn't use the network. An
 * invalid configuration is reported as the only row.
 * @param asksScheduler a scheduler without jobs has no problems, and asking it takes long
 */
export async function overview(context: Context, asksScheduler = true) {
  const { area } = context;
  // `setUp`: whether any part of steward is installed on this machine.
  const head = { userArea: area.root, version: VERSION, setUp: exists(area.root) };
  let config: Config;
  try {
    config = (await context.loadConfig()).config;
  } catch (error) {
    return { ...head, parts: [errorPart('configuration', error, 'steward config path')] };
  }
  // Several rows use the daemon and the scheduler, but only one row should report a failed query.
  const failures = new Map<string, unknown>();
  const gather = async <T>(id: string, fallback: T, get: () => Promise<T>): Promise<T> => {
    try {
      return await get();
    } catch (failure) {
      failures.set(id, failure);
      return fallback;
    }
  };
  const sources: Sources = {
    context,
    config,
    daemon: await gather('daemon', { running: false, cliVersion: VERSION }, () => daemonReport(context)),
    scheduler: await gather<Sources['scheduler']>('jobs', 'unknown', async () =>
      asksScheduler ? jobsHere(context, config.sense) : undefined,
    ),
    localTime: localTimes(context.clock, config.user.timezone),
  };
  const parts = await Promise.all(
    Object.entries(ROWS).map(async ([id, rowOf]): Promise<StatusPart> => {
      try {
        if (failures.has(id)) throw failures.get(id);
        return partOf(id, await rowOf(sources));
      } catch (error) {
        return errorPart(id, error);
      }
    }),
  );
  return { ...head, parts: [...areaPart(context), ...parts, ...(await syncPart(context))] };
}

function areaPart(context: Context): StatusPart[] {
  const fix = 'steward doctor area';
  try {
    const found = sharedArea(context)
      .map(({ found: text }) => text)
      .join('\n');
    return found === '' ? [] : [partOf('area', warning(found, { fix }))];
  } catch (error) {
    return [errorPart('area', error, fix)];
  }
}

async function syncPart(context: Context): Promise<StatusPart[]> {
  const fix = 'steward sync status';
  try {
    const status = await syncStatus(context, false);
    const { folder, machines, engine } = status;
    const problem = status.problem ?? (engine?.problem === true ? engine.found : null);
    const waiting = [...pendingTexts(status).map(({ text }) => text), damagedText(status) ?? []].flat();
    if (folder === null && waiting.length === 0) return [];
    const exchange =
      folder === null ? 'no exchange folder' : `${plural(machines.length, 'machine')} in ${folder}`;
    const found = [problem ?? exchange, ...waiting].join(' · ');
    const isOk = problem === null && waiting.length === 0;
    return [partOf('sync', isOk ? ok(found) : warning(found, { fix }))];
  } catch (error) {
    return [errorPart('sync', error, fix)];
  }
}

function partOf(id: string, finding: Finding) {
  return { id, state: finding.state, found: withHint(finding), fix: finding.fix ?? null };
}

function errorPart(id: string, error: unknown, fix?: string): StatusPart {
  const finding = failure(throwIfBug(error));
  return { ...partOf(id, { ...finding, found: sentence(finding.found) }), fix: fix ?? null };
}

const ID_COLUMNS = 10;
const STATE_COLUMNS = 11;
const ONE_LINE_COLUMNS = 60;
const MIN_COLUMNS = 24;

export function overviewText({ parts, setUp }: Overview, terminal: Terminal, offer?: string): string {
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const intro = 'steward is not set up on this machine. Run "steward init".';
  const lines = [
    ...(setUp ? [] : [...wrap(intro, columns), '']),
    ...parts.flatMap((part) => partLines(part, columns, terminal)),
    ...(offer === undefined ? [] : ['', ...wrap(offer, columns)]),
  ];
  return joinLines(lines);
}

function partLines({ id, state, found, fix }: StatusPart, columns: number, terminal: Terminal): string[] {
  const { neutral, attention, strong } = palette(terminal);
  const paint = state === 'ok' ? String : state === 'off' ? neutral : attention;
  const isWide = columns >= ONE_LINE_COLUMNS;
  const indent = ' '.repeat(isWide ? ID_COLUMNS + STATE_COLUMNS : 2);
  const facts = found.split('\n').flatMap((line) => wrap(clean(line), columns - indent.length));
  const name = id.length < ID_COLUMNS ? padEnd(id, ID_COLUMNS) : `${id} `;
  const word = padEnd(state, ID_COLUMNS + STATE_COLUMNS - name.length);
  const [first = '', ...rest] = isWide ? facts : ['', ...facts];
  const command = fix === null ? [] : [`${indent}${strong(clean(fix))}`];
  return [`${name}${paint(word)}${first}`, ...rest.map((line) => indent + line), ...command];
}
