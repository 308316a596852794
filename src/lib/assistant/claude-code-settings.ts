import { posix, win32 } from 'node:path';

import { StewardError } from '../errors';
import type { PathHost } from '../platform/files/paths';

/** One hook of an assistant: its event, and what is registered for it. */
export interface HookRegistration {
  /** The assistant's name of the event. */
  event: string;
  /** What comes after `steward hook`. */
  verb: string;
  /** Which tools it is for; left out where the event knows no tools. */
  matcher?: string;
  /** Seconds after which the assistant gives up on the hook. */
  timeoutSec: number;
}

/** What installing needs to know of an assistant; another assistant with such a settings file is another object. */
export interface AssistantSettings {
  id: string;
  /** As a person knows it. */
  title: string;
  /** The settings file of this user, absolute. */
  path: (host: PathHost) => string;
  hooks: readonly HookRegistration[];
  /** The key of the settings that switches all hooks off. */
  switchedOffBy: string;
  /** The key of the settings that holds the status line. */
  statusLineKey: string;
}

/** Hooks give up by themselves after 2.2 s; this only bounds what hangs in the kernel. */
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
    // At once; the notification of the same comes when nobody has answered for a while.
    { event: 'PermissionRequest', verb: 'notification', matcher: '*', timeoutSec: TIMEOUT_SEC },
    { event: 'Notification', verb: 'notification', timeoutSec: TIMEOUT_SEC },
    { event: 'Stop', verb: 'stop', timeoutSec: TIMEOUT_SEC },
    { event: 'SessionEnd', verb: 'session-end', timeoutSec: SESSION_END_TIMEOUT_SEC },
  ],
};

/** Every assistant that hooks can be registered with. */
const ASSISTANTS: readonly AssistantSettings[] = [claudeCodeSettings];

/** The assistant of that id; `usage` when there is none. */
export function assistantOf(id: string): AssistantSettings {
  const found = ASSISTANTS.find((assistant) => assistant.id === id);
  if (found !== undefined) return found;
  const known = ASSISTANTS.map((assistant) => assistant.id).join(', ');
  throw new StewardError('usage', `There is no assistant ${id}.`, { hint: `Use one of: ${known}.` });
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
