import { resolve } from 'node:path';

import { realPath } from '../platform/files/stat';
import type { ProcessMark } from '../platform/process/ancestor';
import { variableOf } from '../platform/process/own-terminal';
import { programsOnTerminals, type RunningProgram } from '../platform/process/programs';

interface CodexSession {
  id: string;
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  nowMs: number;
  /** Returns the window that showed the session before. */
  before: () => Pick<ProcessMark, 'pid' | 'started'> | null | undefined;
}

/** Codex creates a session within this time of its start, even on a busy machine; `/new` creates one later. */
const STARTS_WITHIN_MS = 20_000;

/**
 * Returns the Codex window that shows a session of the daemon: the only one that resumed it, the only one in
 * its folder, the only one there that started just before it, or else the one that showed it before. Undefined if
 * that isn't certain.
 */
export function codexWindow({ id, cwd, env, nowMs, before }: CodexSession): RunningProgram | undefined {
  const folder = cwd === undefined ? undefined : realPath(cwd);
  const windows = programsOnTerminals('codex', nowMs).filter(({ pid }) =>
    ['HOME', 'CODEX_HOME'].every((name) => variableOf(pid, name) === env[name]),
  );
  const here = windows.filter((window) => folderOf(window) === folder);
  const createdMs = createdAt(id);
  const startsIt = ({ startedMs }: RunningProgram): boolean =>
    createdMs >= startedMs && createdMs - startedMs < STARTS_WITHIN_MS;
  const choices = [windows.filter(({ args }) => args.includes(id)), here, here.filter(startsIt)];
  const certain = choices.find(({ length }) => length === 1)?.[0];
  if (certain !== undefined) return certain;
  const known = before();
  return windows.find(({ pid, started }) => pid === known?.pid && started === known.started);
}

function folderOf({ args, cwd }: RunningProgram): string | undefined {
  const at = args.findIndex((arg) => arg === '-C' || arg === '--cd');
  const joined = args.find((arg) => arg.startsWith('--cd='))?.slice('--cd='.length);
  const named = joined ?? (at === -1 ? undefined : args[at + 1]);
  return named === undefined ? cwd : realPath(resolve(cwd, named));
}

/** Codex's ids begin with the time of creation (UUID version 7). */
function createdAt(id: string): number {
  return /^[\da-f]{8}-[\da-f]{4}-7/.test(id) ? parseInt(id.slice(0, 13).replace('-', ''), 16) : NaN;
}
