import { join } from 'node:path';

import { groupEntry, placeAt, registrations, type Assistant } from './assistant';

/** Qwen Code, with hooks in `~/.qwen/settings.json`. Command timeouts are in milliseconds. */
export const qwen: Assistant = {
  id: 'qwen',
  title: 'Qwen Code',
  programs: ['qwen'],
  ...placeAt({ variable: 'QWEN_HOME', folder: '.qwen' }, 'settings.json'),
  entry: groupEntry(1000),
  hasComments: true,
  transcripts: (host) => [join(qwen.folder(host), 'projects')],
  switchedOffBy: 'disableAllHooks',
  toolKeys: [
    ...['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'timestamp', 'permission_mode'],
    ...['prompt_id?', 'tool_use_id?', 'tool_call_id?', 'tool_name'],
  ],
  hooks: registrations([
    ['SessionStart', 'session-start'],
    ['UserPromptSubmit', 'prompt'],
    ['PreToolUse', 'tool'],
    ['PostToolUse', 'tool'],
    ['PostToolUseFailure', 'tool'],
    ['SubagentStart', 'subagent-start'],
    ['SubagentStop', 'subagent-stop'],
    ['PermissionRequest', 'notification'],
    ['Notification', 'notification'],
    ['Stop', 'stop'],
    // Sent in addition to Stop if an API error ends the turn.
    ['StopFailure', 'stop'],
    ['SessionEnd', 'session-end', 1],
  ]),
};
