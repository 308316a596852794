import { placeAt, registrations, type Assistant } from './assistant';

/**
 * OpenCode 1 and 2, with steward's plugin in `~/.config/opencode/plugins`. The plugin passes hook JSON in
 * Claude Code's format to the shim.
 */
export const opencode: Assistant = {
  id: 'opencode',
  title: 'OpenCode',
  programs: ['opencode', 'opencode2'],
  ...placeAt({ variable: 'XDG_CONFIG_HOME', folder: '.config', inside: 'opencode' }, 'plugins/steward.js'),
  resume: (id) => `opencode --session ${id}`,
  ownFile: ({ shim, template }) =>
    template('opencode-plugin.js').replace("'@SHIM@'", () => JSON.stringify(shim)),
  hooks: registrations(
    'SessionStart UserPromptSubmit PreToolUse PostToolUse SubagentStart SubagentStop PermissionRequest Stop ' +
      'SessionEnd',
  ),
};
