import { join } from 'node:path';

import { ANSWER_VERB, HOOK_STDIN, HOOK_STDOUT_WAIT_MS, HOOK_VERBS, isWholeJson } from '../assistant/payload';
import { planHook, promptOf, runHook, type HookCall } from '../assistant/hook';
import { type HeardPrompt, type HookDeps, logHook, type HookLine } from '../assistant/hook-event';
import { userArea, type UserArea, ensureUserArea } from '../config/user-area';
import { StewardError, errnoCode, toStewardError, EXIT_CODES } from '../errors';
import { systemClock, type Clock } from '../platform/time/clock';
import { ensureFolder, exists, lstatOf } from '../platform/files/folder';
import { machineId } from '../platform/files/machine';
import { processHost } from '../platform/files/paths';
import { readStdin } from '../platform/process/stdin';
import { writeOutNow, writeErr } from '../platform/terminal/stdio';
import { mayMatch } from '../work/capture/may-match';
import { keepTitle, namesFolder } from '../sessions/names';
import { storedEvent } from '../sessions/work-events';
import { toJson } from '../platform/terminal/error-report';
import { cachedHookSettings, type HookSettings } from '../config/hook-settings';
import { sessionsDeps } from '../sessions/session-deps';
import { flagsOf } from './resolve';

const FLAGS = ['--strict', '--no-tab', '--dry-run', '--json', '--debug'] as const;

type HookArgs = ReturnType<typeof parseHookArgs>;

function parseHookArgs(argv: readonly string[]) {
  const words = argv.filter((word) => !word.startsWith('-'));
  const known: readonly string[] = FLAGS;
  return {
    verb: words[0] ?? '',
    flags: new Set(argv.filter((word) => known.includes(word))),
    assistant: words[1],
    surplus: words[2] ?? argv.find((word) => word.startsWith('-') && !known.includes(word)),
  };
}

/** Returns whether the assistant was started by steward rather than by the user. */
export function isInternal(): boolean {
  return processHost().env['STEWARD_INTERNAL'] === '1';
}

export interface CapturePlans {
  prompt: (prompt: HeardPrompt | undefined) => Promise<object>;
  sessionEnd: (session: { session: string; slug: string | null }) => Promise<object>;
}

/**
 * Runs `steward hook EVENT` without oclif and the configuration loader. Returns undefined if the full command
 * must run: for help, for some dry runs, and after a configuration change.
 */
export async function runHot(argv: readonly string[]): Promise<number | undefined> {
  if (isInternal()) return 0;
  const { verb, flags } = parseHookArgs(argv);
  if (flagsOf(argv).some((word) => word === '--help' || word === '-h')) return undefined;
  // Holding a request needs the configuration and your presence.
  if (verb === ANSWER_VERB) return undefined;
  if (flags.has('--dry-run') && (verb === 'prompt' || verb === 'session-end')) return undefined;
  const kept = keptConfig();
  if (kept === undefined) return undefined;
  return hookCommand(argv, () => Promise.resolve(kept.settings), { area: kept.area });
}

function keptConfig(): { area: UserArea; settings: HookSettings } | undefined {
  try {
    const area = userArea();
    const settings = cachedHookSettings(area);
    return settings === undefined ? undefined : { area, settings };
  } catch {
    return undefined;
  }
}

/**
 * Runs `steward hook EVENT`. Returns 0 even on errors, unless `--strict` is set, because other exit codes
 * block the assistant. Prints only what the hook protocol defines.
 */
export async function hookCommand(
  argv: readonly string[],
  loadSettings: () => Promise<HookSettings>,
  { plans, ...known }: { area?: UserArea; plans?: CapturePlans } = {},
): Promise<number> {
  const args = parseHookArgs(argv);
  const { verb, flags } = args;
  const clock = systemClock();
  const isUninstalled = watchShim();
  const line: HookLine = { hook: isVerb(verb) ? verb : 'unknown', session: null, ok: false, ms: 0 };
  let trouble: StewardError | undefined;
  let { area } = known;
  try {
    area ??= userArea();
    const settings = await loadSettings();
    trouble = await callHook({ area, clock, args, plans, isUninstalled, settings }, line);
  } catch (error) {
    trouble = toStewardError(error);
  }
  line.ok = trouble === undefined;
  if (trouble !== undefined) line.error = [trouble.kind, errnoCode(trouble.cause) ?? []].flat().join(' ');
  line.ms = Math.round(clock.monotonic() * 10) / 10;
  if (area !== undefined && !flags.has('--dry-run') && !isUninstalled()) {
    try {
      prepare(area, area.observability);
      logHook({ clock, path: join(area.observability, 'hooks.jsonl') }, line);
    } catch (error) {
      // If the disk is full, writing the log line also fails. Report the original error.
      trouble ??= toStewardError(error);
    }
  }
  if (trouble === undefined || !flags.has('--strict')) return 0;
  const { reportError } = await import('../platform/terminal/error-report');
  const report = reportError(trouble, { json: flags.has('--json'), debug: flags.has('--debug') });
  writeErr(report.text);
  return EXIT_CODES[trouble.kind];
}

interface Call {
  area: UserArea;
  settings: HookSettings;
  clock: Clock;
  args: HookArgs;
  plans: CapturePlans | undefined;
  isUninstalled: () => boolean;
}

/**
 * Returns a function that checks whether this hook's shim has been uninstalled. If so, the hook must not
 * write any files, not even a code cache.
 */
function watchShim(): () => boolean {
  const { env } = processHost();
  const shim = env['STEWARD_SHIM'] ?? '';
  delete env['STEWARD_SHIM'];
  return () => {
    if (shim === '' || exists(shim)) return false;
    env['STEWARD_NO_CODE_CACHE'] = '1';
    return true;
  };
}

/**
 * Runs the hook, or plans it for a dry run. If a step fails, continues with the remaining steps and returns
 * the first failure.
 */
async function callHook(given: Call, line: HookLine): Promise<StewardError | undefined> {
  const { area, clock, args, settings } = given;
  if (args.surplus !== undefined && args.flags.has('--strict')) {
    throw new StewardError('usage', `Unknown argument "${args.surplus}" for "steward hook".`, {
      hint: 'Run "steward hook --help" for its events and flags.',
    });
  }
  // Use Object.assign, because a spread would read the machine id, which only some hooks need.
  const deps: HookDeps = Object.assign(sessionsDeps({ area, clock, machineId }, settings), {
    env: processHost().env,
    tab: settings.tab && !args.flags.has('--no-tab'),
    tellAssistant: settings.tellAssistant,
    completionLine: async (message: string) =>
      (await import('../notify/triggers')).completionLine(message, settings.daName),
    onPrompt: async (prompt: HeardPrompt) => {
      if (settings.titles) {
        const { redact } = await import('../work/outgoing');
        keepTitle(namesFolder(area.machine), prompt.session, prompt.text, redact);
      }
      const { capture: setting } = settings;
      if (setting === 'off' || !mayMatch(prompt.text)) return undefined;
      const { onPrompt } = await import('./after-hook');
      return onPrompt(deps, setting, prompt);
    },
  });
  const call = await readCall(args);
  if (call.bytes.includes(CURSOR) && (await import('../assistant/cursor-twin')).isTwin(call, processHost()))
    return undefined;
  if (args.flags.has('--dry-run')) {
    writeOutNow(toJson(await planned(deps, call, given.plans)), HOOK_STDOUT_WAIT_MS);
    return undefined;
  }
  if (given.isUninstalled()) return undefined;
  prepare(area, area.state);
  const result = await runHook(deps, call);
  line.session = result.session;
  if (result.agent !== undefined) line.agent = result.agent;
  if (result.tool !== undefined) line.tool = result.tool;
  if (result.output !== '') writeOutNow(result.output, HOOK_STDOUT_WAIT_MS);
  if (call.verb === 'session-end' && settings.capture !== 'off')
    (await import('./after-hook')).startWorkDelivery(area);
  if (result.left !== null && result.left !== 'session-ended')
    (await import('./after-hook')).startTriggers(area, processHost().env);
  if (call.verb === 'subagent-start' && result.session !== null)
    (await import('./after-hook')).startWatchdog(area, processHost().env, result.session);
  return result.trouble;
}

/** Text that identifies hook input from Cursor, which also runs Claude Code's hooks. */
const CURSOR = '"cursor_version"';

async function readCall({ verb, assistant }: HookArgs): Promise<HookCall> {
  const { bytes, end } = await readStdin(HOOK_STDIN, isWholeJson);
  return { verb, assistant, bytes, cut: end === 'large' || (end === 'late' && bytes.length > 0) };
}

async function planned(deps: HookDeps, call: HookCall, plans: CapturePlans | undefined): Promise<object> {
  const plan = planHook(deps, call);
  if (call.verb === 'prompt' && plans !== undefined) return plans.prompt(promptOf(deps, call));
  if (call.verb === 'session-end' && plans !== undefined) return plans.sessionEnd(plan.event);
  return { ...plan, event: storedEvent(plan.event) };
}

function prepare(area: UserArea, folder: string): void {
  if (area.isClaimed && lstatOf(folder)?.isFolder === true) return;
  ensureUserArea(area);
  ensureFolder(folder);
}

function isVerb(text: string): boolean {
  return (HOOK_VERBS as readonly string[]).includes(text);
}
