import { join } from 'node:path';

import { groupEntry, HOLD_SEC, placeAt, registrations, type Assistant } from './assistant';
import { ANSWER_VERB } from './payload';

/** Claude Code, with hooks in `$CLAUDE_CONFIG_DIR/settings.json` or `~/.claude/settings.json`. */
export const claudeCode: Assistant = {
  id: 'claude-code',
  title: 'Claude Code',
  programs: ['claude'],
  ...placeAt({ variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' }, 'settings.json'),
  entry: groupEntry(1),
  switchedOffBy: 'disableAllHooks',
  statusLineKey: 'statusLine',
  transcripts: (host) =>
    [claudeCode.folder(host), join(host.home, '.claude'), join(host.home, '.config', 'claude')].map(
      (folder) => join(folder, 'projects'),
    ),
  resume: (id) => `claude --resume ${id}`,
  toolKeys: [
    ...['session_id', 'transcript_path', 'cwd', 'prompt_id?', 'permission_mode?', 'effort?'],
    ...['hook_event_name', 'tool_name'],
  ],
  // PermissionRequest comes at once, Notification for the same request later, and StopFailure instead of Stop
  // if an API error ends the turn. All SessionEnd hooks are stopped after 1.5 s.
  hooks: registrations(
    'SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure SubagentStart SubagentStop ' +
      'PermissionRequest Notification Stop StopFailure SessionEnd',
    { SessionEnd: 1 },
  ),
};

/** Claude Code with the hooks that hold a request until you answer it from elsewhere. */
export const claudeAnswers: Assistant = {
  ...claudeCode,
  hooks: [
    {
      event: 'PreToolUse',
      verb: ANSWER_VERB,
      matcher: 'AskUserQuestion|ExitPlanMode',
      timeoutSec: HOLD_SEC,
    },
    { event: 'PermissionRequest', verb: ANSWER_VERB, matcher: '*', timeoutSec: HOLD_SEC },
  ],
};
