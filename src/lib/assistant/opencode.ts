import { placeAt, registrations, type Assistant } from './assistant';

/**
 * OpenCode 1 and 2: steward's plugin in `~/.config/opencode/plugins`, which passes Claude Code-style hook
 * JSON to the shim. The plugin chooses the event names.
 */
export const opencode: Assistant = {
  id: 'opencode',
  title: 'OpenCode',
  programs: ['opencode', 'opencode2'],
  ...placeAt({ variable: 'XDG_CONFIG_HOME', folder: '.config', inside: 'opencode' }, 'plugins/steward.js'),
  ownFile: ({ shim, template }) =>
    template('opencode-plugin.js').replace("'@SHIM@'", () => JSON.stringify(shim)),
  hooks: registrations([
    ['SessionStart', 'session-start'],
    ['UserPromptSubmit', 'prompt'],
    ['PreToolUse', 'tool'],
    ['PostToolUse', 'tool'],
    ['SubagentStart', 'subagent-start'],
    ['SubagentStop', 'subagent-stop'],
    ['PermissionRequest', 'notification'],
    ['Stop', 'stop'],
    ['SessionEnd', 'session-end'],
  ]),
};
