import { placeAt, registrations, type Assistant } from './assistant';

/**
 * GitHub Copilot CLI: a file that steward owns, in `$COPILOT_HOME/hooks` or `~/.copilot/hooks`. With
 * PascalCase event names, it sends fields like Claude Code's. Its permissionRequest precedes its rules, so
 * the user may not be asked; the notification means that they are.
 */
export const copilot: Assistant = {
  id: 'copilot',
  title: 'GitHub Copilot CLI',
  programs: ['copilot'],
  ...placeAt({ variable: 'COPILOT_HOME', folder: '.copilot' }, 'hooks/steward.json'),
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
  hooks: registrations([
    ['SessionStart', 'session-start'],
    ['UserPromptSubmit', 'prompt'],
    ['PreToolUse', 'tool'],
    ['PostToolUse', 'tool'],
    ['PostToolUseFailure', 'tool'],
    // This event name exists only in camel case.
    ['subagentStart', 'subagent-start'],
    ['SubagentStop', 'subagent-stop'],
    ['Notification', 'notification'],
    ['Stop', 'stop'],
    ['SessionEnd', 'session-end'],
  ]),
};
