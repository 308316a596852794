import { placeAt, registrations, type Assistant } from './assistant';

/**
 * Cursor (the editor and `cursor-agent`), with hooks in `~/.cursor/hooks.json`. Cursor has no event for
 * permission requests.
 */
export const cursor: Assistant = {
  id: 'cursor',
  title: 'Cursor',
  programs: ['cursor-agent', 'cursor'],
  ...placeAt({ folder: '.cursor' }, 'hooks.json'),
  entry: ({ timeoutSec }, command) => ({ command, timeout: timeoutSec }),
  newFile: '{\n  "version": 1\n}\n',
  hooks: registrations(
    'sessionStart beforeSubmitPrompt preToolUse postToolUse postToolUseFailure subagentStart subagentStop stop ' +
      'sessionEnd',
  ),
};
