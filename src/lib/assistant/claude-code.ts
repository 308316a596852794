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
  hooks: registrations([
    ['SessionStart', 'session-start'],
    ['UserPromptSubmit', 'prompt'],
    ['PreToolUse', 'tool'],
    ['PostToolUse', 'tool'],
    ['PostToolUseFailure', 'tool'],
    ['SubagentStart', 'subagent-start'],
    ['SubagentStop', 'subagent-stop'],
    // Claude Code sends PermissionRequest immediately, but delays the Notification event for the same
    // request.
    ['PermissionRequest', 'notification'],
    ['Notification', 'notification'],
    ['Stop', 'stop'],
    // Sent instead of Stop if an API error ends the turn.
    ['StopFailure', 'stop'],
    // Claude Code stops all SessionEnd hooks after a total of 1.5 s.
    ['SessionEnd', 'session-end', 1],
  ]),
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
