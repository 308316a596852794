import { join } from 'node:path';

import { groupEntry, placeAt, type Assistant } from './assistant';
import { claudeCode } from './claude-code';

/** Qwen Code, with hooks in `~/.qwen/settings.json`. Command timeouts are in milliseconds. */
export const qwen: Assistant = {
  id: 'qwen',
  title: 'Qwen Code',
  programs: ['qwen'],
  ...placeAt({ variable: 'QWEN_HOME', folder: '.qwen' }, 'settings.json'),
  entry: groupEntry(1000),
  hasComments: true,
  transcripts: (host) => [join(qwen.folder(host), 'projects')],
  resume: (id) => `qwen --resume ${id}`,
  switchedOffBy: 'disableAllHooks',
  toolKeys: [
    ...['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'timestamp', 'permission_mode'],
    ...['prompt_id?', 'tool_use_id?', 'tool_call_id?', 'tool_name'],
  ],
  // Qwen Code sends Claude Code's events, but StopFailure in addition to Stop.
  hooks: claudeCode.hooks,
};
