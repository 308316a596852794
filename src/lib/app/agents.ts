import { join } from 'node:path';

import { parseInvocations, type Invocation } from '../agents/check';
import { readRoster, type RosterDeps, type RosterEntry } from '../agents/roster';
import {
  explainRoute,
  type Considered,
  type Decision,
  type AgentTypes,
  type NamedAgent,
} from '../agents/routing';
import { MAX_BRIEFS } from '../agents/brief';
import type { WatchDeps } from '../agents/watchdog';
import { StewardError } from '../errors';
import { parseObject } from '../platform/files/json-object';
import { namedFile } from '../platform/files/named-file';
import { readStdin } from '../platform/process/stdin';
import { clean } from '../platform/terminal/terminal';
import { currentSessions, findSession } from '../sessions/state';
import type { Context } from './context';
import { openSessions } from './sessions';

/** What routing needs of the configuration and the roster. */
export interface AgentSettings {
  types: AgentTypes;
  named: NamedAgent[];
  /** Files of the roster that cannot be used. */
  broken: number;
}

/** The settings, from the configuration and the files of the roster. */
export async function agentSettings(context: Pick<Context, 'area' | 'loadConfig'>): Promise<AgentSettings> {
  const { config } = await context.loadConfig();
  const { entries, problems } = await readRoster(openRoster(context));
  return {
    types: config.user.agents.types,
    named: entries.map(namedAgent),
    broken: new Set(problems.filter(({ level }) => level === 'error').map(({ file }) => file)).size,
  };
}

function namedAgent(entry: RosterEntry): NamedAgent {
  const { slug, name, role, model, expertise, personality, approach, persona } = entry;
  return { slug, name, role, model, expertise, personality, approach, persona };
}

export function openRoster({ area }: Pick<Context, 'area'>): RosterDeps {
  return {
    folder: area.agents,
    parseYaml: async (text) => {
      const { parseYaml } = await import('../config/text');
      return parseYaml(text);
    },
  };
}

export interface RouteCall {
  request: string;
  effort?: number;
  count?: number;
}

/** `steward agents route`: the decision, with a word about a roster that cannot be read whole. */
export function routeCall(
  settings: AgentSettings,
  call: RouteCall,
): { decision: Decision; considered: Considered[] } {
  const { types, named, broken } = settings;
  const { request, effort, count } = call;
  const found = explainRoute(request, {
    types,
    named,
    ...(effort === undefined ? {} : { effort }),
    ...(count === undefined ? {} : { count }),
  });
  if (broken > 0) {
    const files = broken === 1 ? '1 file of the roster is' : `${broken} files of the roster are`;
    found.decision.warnings.push(`${files} not used: see "steward agents roster check".`);
  }
  return found;
}

/** A hook's words go into the assistant's context: that nothing is delegated need not be said at each prompt. */
export function isIdle(decision: Decision, fromHook: boolean): boolean {
  return fromHook && decision.worker === 'native';
}

const EFFORTS: readonly string[] = ['standard', 'extended', 'advanced', 'deep', 'comprehensive'];

/** `E3`, `e3` or `advanced` as 3; anything else is `usage`. */
export function parseEffort(text: string): number {
  const level = /^e([1-5])$/i.exec(text.trim())?.[1];
  const named = EFFORTS.indexOf(text.trim().toLowerCase());
  if (level !== undefined) return Number(level);
  if (named !== -1) return named + 1;
  throw new StewardError('usage', `--effort ${clean(text).slice(0, 40)} is no effort.`, {
    hint: `Use E1 to E5, or ${EFFORTS.join(', ')}.`,
  });
}

/** 1 to as many as one request may launch. */
export function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= MAX_BRIEFS) return count;
  throw new StewardError('usage', `--count ${clean(text).slice(0, 40)} is no number of agents.`, {
    hint: `Use a whole number from 1 to ${MAX_BRIEFS}.`,
  });
}

const MAX_INPUT = 8 * 1024 * 1024;
/** What a person pipes in may take its time; an assistant writes its JSON at once. */
const STDIN = { firstByteMs: 10_000, endMs: 30_000, keepBytes: MAX_INPUT };

/** What is asked: the argument, else stdin, where an assistant gives its hook JSON and others a text. */
export async function requestOf(given: string | undefined): Promise<{ request: string; fromHook: boolean }> {
  if (given !== undefined && given !== '-') return { request: nonEmpty(given), fromHook: false };
  const { text, isTooLarge } = await stdinUpTo();
  if (isTooLarge) {
    // Exit code 2 would make the assistant throw the prompt away.
    if (/^\s*\{[^]{0,4000}"hook_event_name"/.test(text)) return { request: '', fromHook: true };
    throw tooLarge();
  }
  const hook = /^\s*\{/.test(text) ? parseObject(text.trim()) : undefined;
  const prompt = hook?.['prompt'];
  // A hook must not fail for an empty prompt: its exit code would block the assistant.
  if (typeof hook?.['hook_event_name'] === 'string')
    return { request: typeof prompt === 'string' ? prompt : '', fromHook: true };
  return { request: nonEmpty(typeof prompt === 'string' ? prompt : text), fromHook: false };
}

function nonEmpty(request: string): string {
  if (request.trim() !== '') return request;
  throw new StewardError('usage', 'There is no request.', {
    hint: 'Give it in quotes, such as "research the history of tea", or on stdin.',
  });
}

/** All of stdin; a terminal gives nothing. More than 8 MiB is `usage`. */
async function stdinText(): Promise<string> {
  const { text, isTooLarge } = await stdinUpTo();
  if (isTooLarge) throw tooLarge();
  return text;
}

function tooLarge(): StewardError {
  return new StewardError('usage', 'There is more than 8 MiB on stdin.', { hint: 'Give less of it.' });
}

/** The first 8 MiB of stdin, and whether there was more. */
async function stdinUpTo(): Promise<{ text: string; isTooLarge: boolean }> {
  const { bytes, end } = await readStdin(
    STDIN,
    (seen) => seen[0] === 0x7b && parseObject(seen.toString('utf8').trim()) !== undefined,
  );
  return { text: bytes.toString('utf8').replace(/^\ufeff/, ''), isTooLarge: end === 'large' };
}

/** The planned invocations of a file, or of stdin for `-`. */
export async function plannedInvocations(path: string): Promise<Invocation[]> {
  if (path === '-') return parseInvocations(await stdinText());
  const text = namedFile(path, { maxBytes: MAX_INPUT, instead: '- stands for stdin' });
  return parseInvocations(text);
}

/** The slug of the session to watch: named by slug, by the assistant's id, or (`-`) by hook JSON on stdin. */
export async function sessionToWatch(deps: WatchDeps, wanted: string): Promise<string> {
  const name = wanted === '-' ? await sessionOfHook() : wanted;
  const state = currentSessions(deps.sessions);
  const byId = Object.values(state.sessions).filter(({ sessionIds }) => sessionIds.includes(name));
  return (byId.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0] ?? findSession(state, name)).slug;
}

async function sessionOfHook(): Promise<string> {
  const id = parseObject((await stdinText()).trim())?.['session_id'];
  if (typeof id === 'string' && id !== '') return id;
  throw new StewardError('usage', 'There is no hook JSON with a session_id on stdin.', {
    hint: 'Let the assistant call it as a hook, or name a session of "steward sessions".',
  });
}

/** What the watchdog is called with. */
export async function openWatchdog(context: Context): Promise<WatchDeps> {
  const sessions = await openSessions(context);
  return {
    clock: context.clock,
    sessions,
    machineId: context.machineId,
    locks: context.area.machine,
    alerts: join(context.area.state, 'watchdog.json'),
  };
}
