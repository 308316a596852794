import { basename, join } from 'node:path';

import { isObject, textOf } from '../../platform/files/json-object';
import { parseIso } from '../../platform/time/clock';
import { countOf, entryId, type LimitWindow, type SeenLimit } from '../entry';
import { folderFrom, type LineReader } from './reader';

/** Cumulative counts of input, cached input and output tokens. */
type Totals = [number, number, number];

interface Carry {
  session?: string;
  /** The sessions whose history this subagent or fork repeats, the nearest first. */
  parents?: string[];
  /** When this session started. */
  startMs?: number;
  model?: string;
  cwd?: string;
  totals?: Totals;
}

/** Codex writes repeated history all at once, faster than a model can respond. */
const REPLAY_MS = 1000;

/**
 * Codex logs cumulative totals, so only the increase over the previous line is counted. Copies of a log yield
 * the same entry ids.
 */
export const codex: LineReader = {
  kind: 'lines',
  assistant: 'codex',
  name: 'Codex',
  places: ({ env, home }) => {
    const root = folderFrom(env['CODEX_HOME'], home, '.codex');
    return [join(root, 'sessions'), join(root, 'archived_sessions')];
  },
  isLog: (name) => name.startsWith('rollout-') && name.endsWith('.jsonl'),
  depth: 4,
  markers: ['"token_count"', '"turn_context"', '"session_meta"'],
  read(fields, carried, sink, path) {
    const carry = carried as Carry;
    const { payload } = fields;
    const ms = parseIso(textOf(fields['timestamp']) ?? '');
    if (!isObject(payload) || ms === undefined) return;
    if (fields['type'] === 'session_meta') return begin(carry, payload, ms);
    if (fields['type'] === 'turn_context') {
      carry.model = textOf(payload['model']) ?? carry.model ?? 'unknown';
      carry.cwd = textOf(payload['cwd']) ?? carry.cwd ?? '';
    }
    if (payload['type'] !== 'token_count') return;
    if (isObject(payload['rate_limits'])) sink.limits(ms, limitsOf(payload['rate_limits'], ms));
    const { info } = payload;
    const totals = isObject(info) ? totalsOf(info['total_token_usage']) : undefined;
    if (totals === undefined) return;
    const last = isObject(info) ? totalsOf(info['last_token_usage']) : undefined;
    const [input, cached, output] = usedSince(carry.totals, totals, last);
    carry.totals = totals;
    const { parents = [] } = carry;
    const isReplay = parents.length > 0 && ms < (carry.startMs ?? 0) + REPLAY_MS;
    if (isReplay || input + output === 0) return;
    const session = carry.session ?? basename(path, '.jsonl');
    const cacheRead = Math.min(input, cached);
    sink.entry({
      id: entryId(`${parents.at(-1) ?? session} ${totals.join()}`, parents.length === 0 ? '' : session),
      ms,
      session,
      cwd: carry.cwd ?? '',
      model: carry.model ?? 'unknown',
      amounts: [input - cacheRead, output, cacheRead, 0, 0, 0],
      depth: parents.length,
    });
  },
};

/**
 * Handles a line that describes a session. Only the first such line describes this session; later ones
 * describe its parents.
 */
function begin(carry: Carry, meta: Record<string, unknown>, ms: number): void {
  const id = textOf(meta['id']);
  const known = [carry.session, ...(carry.parents ?? [])];
  if (carry.session !== undefined) {
    if (carry.parents !== undefined && id !== undefined && !known.includes(id)) carry.parents.push(id);
    return;
  }
  carry.session = id ?? 'unknown';
  carry.cwd = textOf(meta['cwd']) ?? '';
  carry.startMs = parseIso(textOf(meta['timestamp']) ?? '') ?? ms;
  const source = isObject(meta['source']) ? meta['source']['subagent'] : undefined;
  const spawn = isObject(source) ? source['thread_spawn'] : undefined;
  const parent = textOf(isObject(spawn) ? spawn['parent_thread_id'] : meta['forked_from_id']);
  if (parent !== undefined) carry.parents = [parent];
}

function totalsOf(usage: unknown): Totals | undefined {
  if (!isObject(usage)) return undefined;
  return [usage['input_tokens'], usage['cached_input_tokens'], usage['output_tokens']].map(countOf) as Totals;
}

/**
 * Returns the increase in the totals since `before`. If the totals can't be compared, returns the usage that
 * Codex reports for the last response.
 */
function usedSince(before: Totals | undefined, now: Totals, last: Totals | undefined): Totals {
  if (before === undefined || before.some((count, at) => count > (now[at] ?? 0))) return last ?? now;
  return now.map((count, at) => count - (before[at] ?? 0)) as Totals;
}

/** Identifies each limit by the length of its period, because the order of the limits varies. */
function limitsOf(limits: Record<string, unknown>, ms: number): SeenLimit[] {
  const id = textOf(limits['limit_id']);
  if (id !== undefined && id !== 'codex') return [];
  return [limits['primary'], limits['secondary']].flatMap((slot): SeenLimit[] => {
    if (!isObject(slot)) return [];
    const { used_percent: used, resets_at: at, resets_in_seconds: inSeconds } = slot;
    const window = windowOf(countOf(slot['window_minutes']));
    if (window === undefined || typeof used !== 'number' || used < 0) return [];
    const resetsAtMs =
      typeof at === 'number' ? at * 1000 : typeof inSeconds === 'number' ? ms + inSeconds * 1000 : null;
    return [{ window, usedPercent: Math.min(100, Math.round(used)), resetsAtMs }];
  });
}

function windowOf(minutes: number): LimitWindow | undefined {
  if (minutes >= 240 && minutes <= 360) return 'fiveHour';
  return minutes >= 6 * 1440 && minutes <= 8 * 1440 ? 'sevenDay' : undefined;
}
