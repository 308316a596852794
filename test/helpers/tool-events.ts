import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isWholeJson, WRITERS } from '../../src/lib/assistant/payload';
import { CLAUDE_CODE, type AssistantId } from '../../src/lib/sessions/session-key';
import { planHook } from '../../src/lib/assistant/hook';
import type { HookDeps } from '../../src/lib/assistant/hook-event';
import { ASSISTANTS } from '../../src/lib/assistant/index';
import type { UserArea } from '../../src/lib/config/user-area';
import { StewardError } from '../../src/lib/errors';
import type { WorkEvent } from '../../src/lib/sessions/work-events';
import type { Random } from './random';

/** A folder that a session works in, and what the shim makes of it: a repository, none (null), or nothing (undefined). */
export interface Place {
  cwd: string;
  repo: string | null | undefined;
}

/** Makes folders of every kind below one that is in no repository. */
export function places(root: string): Place[] {
  const at = (...names: string[]): string => join(root, ...names);
  const git = (folder: string, ...args: string[]): void => {
    mkdirSync(folder, { recursive: true });
    execFileSync('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
      stdio: 'ignore',
    });
  };
  for (const name of ['site', 'with space', '.hidden', 'half.git', 'größe']) git(at(name), 'init');
  git(at('bare'), 'init', '--bare');
  git(at('site'), 'commit', '--allow-empty', '-m', 'x');
  git(at('site'), 'worktree', 'add', at('trees', 'fix'));
  git(at('vault'), 'init');
  git(at('vault'), 'commit', '--allow-empty', '-m', 'x');
  git(at('vault'), 'worktree', 'add', at('trees', 'merger'));
  writeFileSync(at('vault', 'RESTRICTED.md'), '');
  git(at('site'), 'init', `--separate-git-dir=${at('apart')}`, at('split'));
  mkdirSync(at('empty', '.git'), { recursive: true });
  mkdirSync(at('site', 'src', 'secret', 'deep'), { recursive: true });
  writeFileSync(at('site', 'src', 'secret', 'RESTRICTED.md'), '');
  mkdirSync(at('plain', 'x "y"'), { recursive: true });
  const known: Place[] = [
    { cwd: at('site'), repo: 'site' },
    { cwd: `${at('site', 'src')}/`, repo: 'site' },
    { cwd: at('site', 'gone', 'too'), repo: 'site' },
    { cwd: at('trees', 'fix'), repo: 'site' },
    { cwd: at('plain'), repo: null },
  ];
  const other = ['with space', '.hidden', 'half.git', 'größe', 'bare', 'split', 'empty', 'plain/x "y"'];
  const odd = [
    at('site', 'src', 'secret', 'deep'),
    at('trees', 'merger'),
    `${at('site')}/../site`,
    `${root}//site`,
    'relative',
    '',
  ];
  return [...known, ...[...other.map((name) => at(name)), ...odd].map((cwd) => ({ cwd, repo: undefined }))];
}

export interface ToolEvent {
  payload: string;
  assistant: AssistantId;
  place: Place;
}

const SENDERS: readonly AssistantId[] = ['claude-code', 'claude-code', 'codex', 'qwen', 'copilot'];
const TOOLS = [
  'Bash',
  'Bash',
  'Bash',
  'Bash',
  'Read',
  'Grep',
  'mcp__a-b__c.d',
  'Write',
  'Edit',
  'odd tool',
  'ünïcode',
  '',
  'a'.repeat(120),
];
const EVENTS = [
  'PreToolUse',
  'PreToolUse',
  'PostToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
];
const TEXTS = [
  ...[
    '',
    'plain',
    '"',
    '\\',
    '\\"',
    '\\\\',
    '{',
    '}',
    '}}',
    '{"a":1}',
    '\n',
    '\t',
    '\u0000',
    'ü',
    '🦉',
    '\ud800',
  ],
  ...['"agent_id"', '"agent_id":"x"', ',"tool_use_id":"toolu_1"}', "'$(touch x)`y`", '*', '%s%n', '\u2028'],
];

/** A tool event as an assistant may send it, well-formed or cut. */
export function toolEvent(random: Random, session: string, where: readonly Place[]): ToolEvent {
  const { chance, pick, below } = random;
  const assistant = pick(SENDERS);
  const place = chance(0.8) ? (where[below(5)] as Place) : pick(where);
  const values: Record<string, unknown> = {
    session_id: chance(0.03) ? pick(TEXTS) : session,
    transcript_path: chance(0.2) ? null : `/t/${chance(0.05) ? pick(TEXTS) : 'x'}.jsonl`,
    cwd: place.cwd,
    effort: { level: 'high' },
    hook_event_name: pick(EVENTS),
    tool_name: pick(TOOLS),
  };
  const lead = keysOf(assistant)
    .filter((key) => !key.endsWith('?') || chance(0.5))
    .map((word): [string, unknown] => [word.replace('?', ''), values[word.replace('?', '')] ?? 'some text']);
  if (chance(0.2)) {
    const key = pick(['agent_id', 'agent_name', 'new_key', 'cursor_version']);
    lead.splice(below(lead.length), 0, [key, pick(TEXTS)]);
  }
  if (chance(0.05)) lead.push(...lead.splice(below(lead.length), 1));
  const size = chance(0.02) ? 70_000 : chance(0.1) ? 3000 : 0;
  const rest = {
    tool_input: { ...(value(random, 0) as object), tool_use_id: 'nested' },
    ...(chance(0.5) ? { tool_response: [value(random, 0), textOf(pick(TEXTS), size)] } : {}),
    ...(chance(0.9) ? { tool_use_id: 'toolu_01' } : {}),
    ...(chance(0.4) ? { duration_ms: below(9999) } : {}),
    ...(chance(0.1) ? { new_key: value(random, 1) } : {}),
  };
  const text = JSON.stringify({ ...Object.fromEntries(lead), ...rest }, undefined, chance(0.03) ? 2 : 0);
  const whole = chance(0.5) ? `${text}\n` : text;
  if (!chance(0.08)) return { payload: whole, assistant, place };
  // Half of the cuts are after a brace.
  const ends = [...text.matchAll(/\}/g)].map(({ index }) => index + 1).slice(0, -1);
  return { payload: text.slice(0, chance(0.5) ? pick(ends) : below(text.length)), assistant, place };
}

function textOf(text: string, size: number): string {
  return text.repeat(Math.ceil(size / Math.max(1, text.length)));
}

function value(random: Random, depth: number): unknown {
  const { chance, pick, below } = random;
  if (depth > 0 && chance(0.6))
    return chance(0.5) ? [pick(TEXTS), pick(TEXTS)].join('') : pick([1, -2.5, true, null]);
  const parts = Array.from({ length: depth > 3 ? 0 : below(4) }, () => value(random, depth + 1));
  if (depth > 0 && chance(0.3)) return parts;
  return Object.fromEntries(parts.map((part, index) => [chance(0.2) ? pick(TEXTS) : `key${index}`, part]));
}

/** Returns what Node.js writes of a payload; undefined for one that it refuses. */
export function nodeEvent(
  area: UserArea,
  now: () => number,
): (verb: string, payload: string, assistant?: AssistantId) => WorkEvent | undefined {
  const deps: HookDeps = {
    clock: { now, monotonic: now },
    machineId: '0123456789ab',
    area,
    dayOf: () => '2026-11-20',
    env: {},
    tab: false,
    tellAssistant: false,
  };
  return (verb, payload, assistant) => {
    try {
      return planHook(deps, { verb, assistant, bytes: Buffer.from(payload), cut: false }).event;
    } catch (error) {
      if (error instanceof StewardError && error.kind === 'usage') return undefined;
      throw error;
    }
  };
}

/** The line that the shim writes of a payload; undefined for those that it leaves to Node.js. */
export function shimEvent({
  payload,
  assistant,
  place,
}: ToolEvent): Omit<WorkEvent, 'ts' | 'slug'> | undefined {
  const text = payload.replace(/\n+$/, '');
  const keys = leadOf(assistant).exec(text)?.groups ?? {};
  const type = TYPES[keys['hook_event_name'] ?? ''];
  const { session_id: session = '', tool_name: tool = '' } = keys;
  if (Buffer.byteLength(payload) > 65_536 || !isWholeJson(Buffer.from(text))) return undefined;
  if (/"(?:agent_id|agent_name|cursor_version)"/.test(text) || type === undefined || place.repo === undefined)
    return undefined;
  if (!/^[\w.-]{1,200}$/.test(session) || !/^[\w.:-]{1,100}$/.test(tool) || WRITERS.has(tool))
    return undefined;
  return { type, session, repo: place.repo, tool, ...(assistant === CLAUDE_CODE ? {} : { assistant }) };
}

const TYPES: Readonly<Record<string, WorkEvent['type']>> = {
  PreToolUse: 'tool-before',
  PostToolUse: 'tool-after',
  PostToolUseFailure: 'tool-failed',
};

function leadOf(assistant: AssistantId): RegExp {
  return new RegExp(`^\\{${keysOf(assistant).map(field).join('')}"tool_input":`);
}

function keysOf(assistant: AssistantId): readonly string[] {
  return ASSISTANTS.find(({ id }) => id === assistant)?.toolKeys ?? [];
}

function field(word: string): string {
  const key = word.replace('?', '');
  const text = `"(?<${key}>[^"\\\\]*)"`;
  const whole = `"${key}":${key === 'effort' ? `\\{"level":${text}\\}` : `(?:null|${text})`},`;
  return word.endsWith('?') ? `(?:${whole})?` : whole;
}
