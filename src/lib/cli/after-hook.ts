import { isCalledByAssistant } from '../assistant/payload';
import type { HeardPrompt } from '../assistant/hook-event';
import type { Machine, UserArea } from '../config/user-area';
import { readInstance } from '../daemon/instance';
import { exists } from '../platform/files/folder';
import { isAlive } from '../platform/files/lock';
import { startDetached } from '../platform/process/own-process';
import { type CaptureHookDeps, onPrompt as capture } from '../work/capture/hook';

/** Captures issues from a prompt; returns the message to show. */
export function onPrompt(machine: Machine, setting: CaptureHookDeps['setting'], prompt: HeardPrompt) {
  return capture({ ...machine, setting, deliverSoon: () => startWorkDelivery(machine.area) }, prompt);
}

/**
 * Starts a background process that sends captured issues. If the process fails, the daemon or the next hook
 * retries.
 */
export function startWorkDelivery(area: UserArea): void {
  startDetached(['work', 'deliver'], area.root);
}

/** Starts a background process that handles queued hook events, unless the daemon is running. */
export function startTriggers(area: UserArea, env: NodeJS.ProcessEnv): void {
  if (needsProcess(area, env)) startDetached(['notify', 'triggers'], area.root);
}

/** Starts a background process that watches a session, unless the daemon is running. */
export function startWatchdog(area: UserArea, env: NodeJS.ProcessEnv, session: string): void {
  if (needsProcess(area, env))
    startDetached(['agents', 'watch', '--until-idle', '--session', session], area.root);
}

/**
 * Returns whether to start a background process: false if the daemon is running or a user typed the hook
 * command.
 */
function needsProcess(area: UserArea, env: NodeJS.ProcessEnv): boolean {
  if (!exists(area.installManifest) && !isCalledByAssistant(env)) return false;
  const daemon = readInstance(area);
  return daemon === undefined || !isAlive(daemon.pid);
}
