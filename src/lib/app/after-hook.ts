import { isCalledByAssistant } from '../assistant/payload';
import type { HeardPrompt } from '../assistant/hook-event';
import type { UserArea } from '../config/user-area';
import { readInstance } from '../daemon/instance';
import { exists } from '../platform/files/folder';
import { isAlive } from '../platform/files/lock';
import { startDetached } from '../platform/process/own-process';
import { type CaptureHookDeps, onPrompt as capture } from '../work/capture/hook';

/** Captures issues from a prompt; returns the message to show. */
export function onPrompt(
  deps: Omit<CaptureHookDeps, 'deliverSoon'>,
  prompt: HeardPrompt,
): string | undefined {
  return capture({ ...deps, deliverSoon: () => startWorkDelivery(deps.area) }, prompt);
}

/** Starts a process that sends the captures. If that fails, the daemon or the next hook sends them. */
export function startWorkDelivery(area: UserArea): void {
  if (exists(area.work.repo)) startDetached(['work', 'deliver'], area.root);
}

/** Starts a process that handles queued hook events, unless the daemon handles them. */
export function startTriggers(area: UserArea, env: NodeJS.ProcessEnv): void {
  if (needsProcess(area, env)) startDetached(['notify', 'triggers'], area.root);
}

/** Starts the watchdog for a session, unless the daemon watches it. */
export function startWatchdog(area: UserArea, env: NodeJS.ProcessEnv, session: string): void {
  if (needsProcess(area, env))
    startDetached(['agents', 'watch', '--until-idle', '--session', session], area.root);
}

/** Returns whether to start a background process. False if the daemon is running or a user typed the command. */
function needsProcess(area: UserArea, env: NodeJS.ProcessEnv): boolean {
  if (!exists(area.installManifest) && !isCalledByAssistant(env)) return false;
  const daemon = readInstance(area);
  return daemon === undefined || !isAlive(daemon.pid);
}
