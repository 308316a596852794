import { posix, win32 } from 'node:path';

import { StewardError } from '../errors';
import type { PathHost } from '../platform/files/paths';

/** A hook to register for one event. */
export interface HookRegistration {
  /** The assistant's name of the event. */
  event: string;
  /** The argument of `steward hook`. */
  verb: string;
  /** The tools it applies to; omitted if the event has no tools. */
  matcher?: string;
  /** Seconds after which the assistant gives up on the hook. */
  timeoutSec: number;
}

/** What the installer needs to know about an assistant. */
export interface AssistantSettings {
  id: string;
  /** The product name. */
  title: string;
  /** The settings file of this user, absolute. */
  path: (host: PathHost) => string;
  hooks: readonly HookRegistration[];
  /** The settings key that disables all hooks. */
  switchedOffBy: string;
  /** The settings key of the status line. */
  statusLineKey: string;
}

/** Hooks time out on their own after 2.2 s; this bounds one that hangs in the kernel. */
const TIMEOUT_SEC = 5;
/** All hooks of this event share 1.5 s. */
const SESSION_END_TIMEOUT_SEC = 1;

/** Claude Code: `$CLAUDE_CONFIG_DIR/settings.json`, else `~/.claude/settings.json`. */
export const claudeCodeSettings: AssistantSettings = {
  id: 'claude-code',
  title: 'Claude Code',
  path: settingsPath,
  switchedOffBy: 'disableAllHooks',
  statusLineKey: 'statusLine',
  hooks: [
    { event: 'SessionStart', verb: 'session-start', timeoutSec: TIMEOUT_SEC },
    { event: 'UserPromptSubmit', verb: 'prompt', timeoutSec: TIMEOUT_SEC },
    { event: 'PreToolUse', verb: 'tool', matcher: '*', timeoutSec: TIMEOUT_SEC },
    { event: 'PostToolUse', verb: 'tool', matcher: '*', timeoutSec: TIMEOUT_SEC },
    { event: 'PostToolUseFailure', verb: 'tool', matcher: '*', timeoutSec: TIMEOUT_SEC },
    { event: 'SubagentStart', verb: 'subagent-start', timeoutSec: TIMEOUT_SEC },
    { event: 'SubagentStop', verb: 'subagent-stop', timeoutSec: TIMEOUT_SEC },
    // Immediate; the notification for it comes only after a while without an answer.
    { event: 'PermissionRequest', verb: 'notification', matcher: '*', timeoutSec: TIMEOUT_SEC },
    { event: 'Notification', verb: 'notification', timeoutSec: TIMEOUT_SEC },
    { event: 'Stop', verb: 'stop', timeoutSec: TIMEOUT_SEC },
    { event: 'SessionEnd', verb: 'session-end', timeoutSec: SESSION_END_TIMEOUT_SEC },
  ],
};

/** The supported assistants. */
const ASSISTANTS: readonly AssistantSettings[] = [claudeCodeSettings];

/** Returns the assistant with that id; `usage` if unknown. */
export function assistantOf(id: string): AssistantSettings {
  const found = ASSISTANTS.find((assistant) => assistant.id === id);
  if (found !== undefined) return found;
  const known = ASSISTANTS.map((assistant) => assistant.id).join(', ');
  throw new StewardError('usage', `Unknown assistant "${id}".`, { hint: `Use one of: ${known}.` });
}

function settingsPath(host: PathHost): string {
  const { join, isAbsolute } = host.platform === 'win32' ? win32 : posix;
  const set = host.env['CLAUDE_CONFIG_DIR'] ?? '';
  const folder = /^~(?:$|[/\\])/.test(set) ? join(host.home, set.slice(1)) : set;
  if (folder === '') return join(host.home, '.claude', 'settings.json');
  if (isAbsolute(folder)) return join(folder, 'settings.json');
  throw new StewardError('config', 'CLAUDE_CONFIG_DIR is not an absolute path.', {
    hint: 'Set it to the absolute path of the folder that holds your settings.json, or unset it.',
  });
}
