import type { HeardPrompt } from '../assistant/hook-event';
import type { UserArea } from '../config/user-area';
import { exists } from '../platform/files/folder';
import { startDetached } from '../platform/process/own-process';
import { onPrompt as capture, type CaptureHookDeps } from '../work/capture/hook';

/** The prompt hook of work capture. Returns what the person is told. */
export function onPrompt(
  deps: Omit<CaptureHookDeps, 'deliverSoon'>,
  prompt: HeardPrompt,
): string | undefined {
  return capture({ ...deps, deliverSoon: () => deliverSoon(deps.area) }, prompt);
}

/** Starts what sends the captures; it ends by itself. Where it cannot start, the daemon, or the next one, does it. */
export function deliverSoon(area: UserArea): void {
  if (exists(area.work.repo)) startDetached(['work', 'deliver'], area.root);
}
