import { join } from 'node:path';

import { placeAt, registrations, type Assistant } from './assistant';

/**
 * GitHub Copilot CLI, with hooks in `$COPILOT_HOME/hooks` or `~/.copilot/hooks`. PascalCase event names make
 * Copilot send Claude Code's fields. permissionRequest isn't used, because it also fires when the user isn't
 * asked.
 */
export const copilot: Assistant = {
  id: 'copilot',
  title: 'GitHub Copilot CLI',
  programs: ['copilot'],
  ...placeAt({ variable: 'COPILOT_HOME', folder: '.copilot' }, 'hooks/steward.json'),
  transcripts: (host) => [join(copilot.folder(host), 'session-state')],
  resume: (id) => `copilot --resume=${id}`,
  ownFile({ host, shim, commandFor }) {
    const entryOf = (verb: string, timeoutSec: number): object => ({
      type: 'command',
      ...(host.platform === 'win32'
        ? { powershell: `& '${shim.replaceAll("'", "''")}' ${verb} copilot; exit 0` }
        : { bash: commandFor(`${verb} copilot`) }),
      timeoutSec,
    });
    const hooks = copilot.hooks.map(({ event, verb, timeoutSec }) => [event, [entryOf(verb, timeoutSec)]]);
    return `${JSON.stringify({ version: 1, hooks: Object.fromEntries(hooks) as object }, null, 2)}\n`;
  },
  toolKeys: ['hook_event_name', 'session_id', 'timestamp', 'cwd', 'traceparent?', 'tool_name'],
  // Copilot accepts the name `subagentStart` only in camel case.
  hooks: registrations(
    'SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure subagentStart SubagentStop ' +
      'Notification Stop SessionEnd',
  ),
};
