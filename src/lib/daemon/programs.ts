import { basename, join } from 'node:path';

import EXAMPLES from '../../../templates/data/program-events.json';
import { toStewardError } from '../errors';
import { off, ok, warning, type Finding } from '../platform/check';
import { listFolder, lstatOf } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { readObject, writeObject } from '../platform/files/object-file';
import { processHost } from '../platform/files/paths';
import { stampOf } from '../platform/files/stat';
import type { Run } from '../platform/process/process';
import { forShell } from '../platform/process/spawn';
import { plural } from '../platform/terminal/format';
import { cleanLine, cleanLines } from '../platform/terminal/terminal';
import { toIso, type Clock } from '../platform/time/clock';
import type { DaemonLog } from './log';

/** The events that programs are run on. Each has an example of its fields. */
export type ProgramEvent = keyof typeof EXAMPLES;
export type EventFields = Readonly<Record<string, string | number | null>>;
export const PROGRAM_EVENTS = Object.keys(EXAMPLES) as ProgramEvent[];

const LIMIT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_TEXT = 300;
const MAX_LOGGED = 2000;
/** Events that wait for one program at most. */
const MAX_QUEUE = 100;
const MAX_FAILURES = 5;
const DISABLED = `disabled after ${MAX_FAILURES} failures in a row`;

export interface ProgramDeps {
  clock: Clock;
  run: Run;
  /** The user area, whose folder `on` has the programs. */
  root: string;
  /** The file with the disabled programs. */
  disabled: string;
  limitMs?: number;
}

/** A program in `on/EVENT.d`. */
export interface Program {
  event: ProgramEvent;
  path: string;
  /** Why it isn't run, such as its owner or mode; null if it is. */
  why: string | null;
  /** The command that repairs that, if there is one. */
  fix: string | null;
}

export function programsFor({ root, disabled }: ProgramDeps, event: ProgramEvent): Program[] {
  const folder = join(root, 'on', `${event}.d`);
  const names = lstatOf(folder)?.isFolder === true ? listFolder(folder).sort() : [];
  if (names.length === 0) return [];
  const folders = [root, join(root, 'on'), folder];
  const [refused] = folders.flatMap((path) => refusal(path, 'isFolder', `the folder ${path}`) ?? []);
  const stopped = disabledIn(disabled);
  return names.map((name) => {
    const path = join(folder, name);
    const isStopped = stopped[path] !== undefined && stopped[path] === stampOf(path)?.mark;
    const state = isStopped ? { why: DISABLED, fix: `touch ${forShell(path)}` } : { why: null, fix: null };
    return { event, path, ...(refused ?? refusal(path, 'isFile', 'it') ?? state) };
  });
}

/** Returns the programs of all events, and the folders of events that don't exist. */
export function allPrograms(deps: ProgramDeps): (Omit<Program, 'event'> & { event: string })[] {
  const root = join(deps.root, 'on');
  const names = lstatOf(root)?.isFolder === true ? listFolder(root) : [];
  const known = PROGRAM_EVENTS.map((event) => join(root, `${event}.d`));
  const strays = names.map((name) => join(root, name)).filter((path) => !known.includes(path));
  const folders = strays.filter((path) => lstatOf(path)?.isFolder === true);
  const unknown = folders.map((path) => {
    const isKnown = known.includes(`${path}.d`);
    const why = isKnown ? 'its name lacks .d' : `no such event; use one of ${PROGRAM_EVENTS.join(', ')}`;
    const fix = isKnown ? `mv ${forShell(path)} ${forShell(`${path}.d`)}` : null;
    return { event: basename(path, '.d'), path, why, fix };
  });
  return [...PROGRAM_EVENTS.flatMap((event) => programsFor(deps, event)), ...unknown];
}

/** Returns why a program or its folder is not used; undefined if only you can change it. */
function refusal(path: string, kind: 'isFile' | 'isFolder', name: string) {
  const found = lstatOf(path);
  const thing = kind === 'isFile' ? 'file; put the program itself there' : 'folder';
  if (found?.[kind] !== true) return { why: `${name} is a link or not a ${thing}`, fix: null };
  const quoted = forShell(path);
  if (!found.isOwn) return { why: `${name} belongs to another user`, fix: `sudo chown "$USER" ${quoted}` };
  if ((found.mode & 0o022) !== 0)
    return { why: `other users can change ${name}`, fix: `chmod go-w ${quoted}` };
  const isExecutable = (found.mode & 0o100) !== 0;
  return isExecutable ? undefined : { why: `${name} is not executable`, fix: `chmod u+x ${quoted}` };
}

/** Returns whether the daemon runs a program, or why not and what to do. */
export function programState({ why, fix }: Pick<Program, 'why' | 'fix'>): string {
  if (why === null) return 'runs';
  return `not run: ${why}${fix === null ? '' : `. Fix: ${fix}`}`;
}

function disabledIn(path: string): Record<string, unknown> {
  const stored = readObject(path)?.['disabled'];
  return isObject(stored) ? stored : {};
}

/** Returns what a program reads: the event, its time and its fields, on one line. */
export function eventLine(event: ProgramEvent, atMs: number, fields: EventFields): string {
  const cleaned = Object.entries(fields).map(([key, value]) => {
    return [key, typeof value === 'string' ? cleanLine(value, MAX_TEXT) : value];
  });
  return `${JSON.stringify({ event, at: toIso(atMs), ...Object.fromEntries(cleaned) })}\n`;
}

/** Runs a program with an event on stdin, and returns its result and output. */
export async function runProgram(
  { root, run, limitMs = LIMIT_MS }: ProgramDeps,
  { path, event }: Program,
  input: string,
) {
  // A program may start an assistant, whose hooks must not cause further events.
  const env = { ...processHost().env, STEWARD_EVENT: event, STEWARD_INTERNAL: '1' };
  const options = { cwd: root, env, input, timeoutMs: limitMs, maxBytes: MAX_OUTPUT_BYTES };
  try {
    const { code, stdout, stderr, timedOut } = await run(path, [], options);
    const result = timedOut ? `took longer than ${limitMs / 1000} s` : `exit code ${code ?? 'unknown'}`;
    const output = cleanLines(stdout + stderr).trim().slice(0, MAX_LOGGED); // prettier-ignore
    return { path, code: timedOut ? null : code, result, output };
  } catch (error) {
    return { path, code: null, result: toStewardError(error).message, output: '' };
  }
}

export type TestedProgram = Awaited<ReturnType<typeof runProgram>>;

/** Runs a program with the example of its event, also if it is disabled. */
export async function testProgram(deps: ProgramDeps, program: Program): Promise<TestedProgram> {
  const { event, path, why } = program;
  const state = programState(program);
  if (why !== null && why !== DISABLED) return { path, code: null, result: state, output: '' };
  const tested = await runProgram(deps, program, eventLine(event, deps.clock.now(), EXAMPLES[event]));
  return why === null ? tested : { ...tested, result: `${tested.result}; on events ${state}` };
}

/** A program, the events that wait for it, and how often in a row it failed. */
interface Lane {
  program: Program;
  queue: string[];
  failures: number;
  current?: Promise<void> | undefined;
}

/**
 * Runs programs on events, each program one event at a time, in the order of the events. A program that keeps
 * failing is disabled until it changes.
 */
export function programRunner(
  deps: ProgramDeps & Pick<DaemonLog, 'write'> & { notify: (message: string) => Promise<unknown> },
) {
  const lanes = new Map<string, Lane>();
  let dropped = 0;
  const drain = async (lane: Lane): Promise<void> => {
    for (let line = lane.queue.shift(); line !== undefined; line = lane.queue.shift()) {
      const done = await runProgram(deps, lane.program, line);
      lane.failures = done.code === 0 ? 0 : lane.failures + 1;
      const isOff = lane.failures >= MAX_FAILURES;
      if (isOff) dropped += lane.queue.splice(0).length;
      deps.write(done.code === 0 ? 'info' : 'warn', 'program', { ...done, dropped });
      if (!isOff) continue;
      lane.failures = 0;
      const disabled = { ...disabledIn(deps.disabled), [done.path]: stampOf(done.path)?.mark };
      writeObject(deps.disabled, { version: 1, disabled });
      await deps.notify(
        `${basename(done.path)} is ${DISABLED} (${done.result}). To enable it: touch ${forShell(done.path)}`,
      );
    }
  };
  return {
    emit(event: ProgramEvent, fields: EventFields): void {
      const line = eventLine(event, deps.clock.now(), fields);
      for (const program of programsFor(deps, event).filter(({ why }) => why === null)) {
        const lane = lanes.get(program.path) ?? { program, queue: [], failures: 0 };
        lanes.set(program.path, lane);
        if (lane.queue.length < MAX_QUEUE) lane.queue.push(line);
        else dropped += 1;
        lane.current ??= drain(lane)
          .catch((error: unknown) =>
            deps.write('error', 'program', { message: toStewardError(error).message }),
          )
          .finally(() => (lane.current = undefined));
      }
    },
    /** Returns how many events found the queue full, or their program disabled. */
    dropped: () => dropped,
    /** Resolves when no event waits. */
    idle: () => Promise.all([...lanes.values()].map(({ current }) => current)),
  };
}

/** Returns which programs are not run, and how many events were dropped. */
export function programsFinding(deps: ProgramDeps, dropped: number): Finding {
  const all = allPrograms(deps);
  const bad = all.filter(({ why }) => why !== null).map(({ path, why }) => `${path}: ${why ?? ''}`);
  if (dropped > 0) bad.push(`${plural(dropped, 'event')} dropped`);
  if (bad.length === 0) return all.length === 0 ? off('none') : ok(plural(all.length, 'program'));
  const fix = all.find((program) => program.fix !== null)?.fix;
  return warning(bad.join(', '), fix ? { fix } : {});
}
