import { StewardError } from '../errors';
import { modeOf } from '../platform/files/folder';
import type { PathHost } from '../platform/files/paths';
import type { Run } from '../platform/process/process';
import { strangersIn, topValue } from './hook-entries';
import type { AssistantSettings } from './claude-code-settings';
import { installedEvents } from './install';
import { commandsOf, shimDeps, type HookInstallDeps } from './install-entry';
import { readSettings } from './settings-file';
import { shimPath } from './shim';
import { hasSkill, skillPath } from './skill';

export interface HooksStatus {
  assistant: string;
  settings: string;
  /** All events and a shim that works; some of it; nothing. */
  state: 'installed' | 'partly' | 'not';
  events: { event: string; registered: boolean }[];
  /** The settings switch all hooks off. */
  switchedOff: boolean;
  /** `runs`: asked what it would start, it answers. */
  shim: { path: string; exists: boolean; runs: boolean };
  /** The work skill, where the assistant looks for it. */
  skill: { path: string; exists: boolean };
  /** Commands there that run the hooks of another user area. */
  strangers: string[];
  /** What the shim would start now; null where it finds none, or what it finds does not run. */
  node: { path: string; version: string } | null;
  steward: { path: string; version: string } | null;
}

export interface StatusDeps extends Omit<HookInstallDeps, 'clock' | 'machineId'> {
  run: Run;
}

const PROBE_MS = 10_000;
const NOTHING = { runs: false, node: null, steward: null };

/** What is registered, and what the registered shim would start. Settings that cannot be read are `config`. */
export async function hooksStatus(deps: StatusDeps, assistant: AssistantSettings): Promise<HooksStatus> {
  const path = assistant.path(deps.host);
  const source = readSettings(path);
  const registered = new Set(installedEvents(deps, assistant));
  const events = assistant.hooks.map(({ event }) => ({ event, registered: registered.has(event) }));
  const shim = shimPath(shimDeps(deps));
  const exists = modeOf(shim) !== undefined;
  const { runs, ...found } = exists ? await probe(deps.run, shim, deps.host) : NOTHING;
  const works = found.node !== null && found.steward !== null;
  const isAll = registered.size === assistant.hooks.length;
  const isNothing = registered.size === 0 && !exists;
  return {
    assistant: assistant.id,
    settings: path,
    state: isAll && works ? 'installed' : isNothing ? 'not' : 'partly',
    events,
    switchedOff: source !== undefined && topValue(source, path, assistant.switchedOffBy) === true,
    shim: { path: shim, exists, runs },
    skill: { path: skillPath(deps, assistant), exists: hasSkill(deps, assistant) },
    strangers: source === undefined ? [] : strangersIn(source, path, commandsOf(deps)),
    ...found,
  };
}

/** Asks the shim what it would start, and that for its version. */
async function probe(
  run: Run,
  shim: string,
  { platform, env }: PathHost,
): Promise<Pick<HooksStatus, 'node' | 'steward'> & { runs: boolean }> {
  const answer =
    platform === 'win32'
      ? await ask(run, env['ComSpec'] ?? 'cmd.exe', ['/d', '/c', shim, '--where'])
      : await ask(run, shim, ['--where']);
  const [node = '', steward = ''] = (answer ?? '').split(/\r?\n/).map((line) => line.replace(/^"|"$/g, ''));
  if (node === '' || steward === '') return { ...NOTHING, runs: answer !== undefined };
  const nodeVersion = await ask(run, node, ['-p', 'process.versions.node']);
  const version = await ask(run, node, [steward, '--version']);
  return {
    runs: true,
    node: nodeVersion === undefined ? null : { path: node, version: nodeVersion },
    steward: version === undefined ? null : { path: steward, version: version.replace(/^steward /, '') },
  };
}

/** What a program prints; undefined when it does not end well. */
async function ask(run: Run, file: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { code, stdout } = await run(file, args, { timeoutMs: PROBE_MS });
    return code === 0 ? stdout.trim() : undefined;
  } catch (error) {
    if (error instanceof StewardError) return undefined;
    throw error;
  }
}
