import { join } from 'node:path';

import { readSystemText } from '../platform/files/system-files';
import { disablesHooks } from './codex-features';
import { groupEntry, HOLD_SEC, placeAt, registrations, type Assistant } from './assistant';
import { ANSWER_VERB } from './payload';

const MAX_BYTES = 1024 * 1024;

/**
 * OpenAI Codex CLI, with hooks in `$CODEX_HOME/hooks.json` or `~/.codex/hooks.json`. Never change a released
 * entry, because Codex makes the user review changed hooks.
 */
export const codex: Assistant = {
  id: 'codex',
  title: 'Codex CLI',
  programs: ['codex'],
  ...placeAt({ variable: 'CODEX_HOME', folder: '.codex' }, 'hooks.json'),
  entry: groupEntry(1),
  transcripts: (host) => ['sessions', 'archived_sessions'].map((name) => join(codex.folder(host), name)),
  resume: (id) => `codex resume ${id}`,
  disabledBy(host) {
    const path = join(codex.folder(host), 'config.toml');
    return disablesHooks(readSystemText(path, MAX_BYTES) ?? '') ? `hooks in ${path}` : undefined;
  },
  pending: 'not trusted yet: run /hooks in codex',
  toolKeys: [
    ...['session_id', 'turn_id', 'transcript_path', 'cwd', 'hook_event_name', 'model', 'permission_mode'],
    'tool_name',
  ],
  // Codex kills hooks for Interrupt and SessionEnd after 3 s.
  hooks: registrations(
    'SessionStart UserPromptSubmit PreToolUse PostToolUse SubagentStart SubagentStop PermissionRequest Stop ' +
      'Interrupt SessionEnd',
    { Interrupt: 2, SessionEnd: 2 },
  ),
};

/** Codex with the hook that holds a permission until you answer it from elsewhere. It has none for questions. */
export const codexAnswers: Assistant = {
  ...codex,
  hooks: [{ event: 'PermissionRequest', verb: ANSWER_VERB, matcher: '*', timeoutSec: HOLD_SEC }],
};
