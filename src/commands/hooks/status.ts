import { hooksStatus, type HooksStatus, statusText } from '../../lib/assistant/install-view';
import { BaseCommand, text } from '../../lib/cli/base-command';
import { openHooks } from '../../lib/app/hooks';

export default class HooksStatusCommand extends BaseCommand {
  static override summary = 'Show whether the hooks are registered and what they run';
  static override flags = {
    assistant: text({
      description: 'The assistant.',
      default: 'claude-code',
      options: ['claude-code'],
    }),
  };
  static override examples = ['<%= config.bin %> hooks status', '<%= config.bin %> hooks status --json'];
  static override related = ['hooks install', 'hooks uninstall'];

  async run(): Promise<HooksStatus> {
    const { flags } = await this.parse(HooksStatusCommand);
    const { deps, assistant } = openHooks(this.context, flags.assistant);
    const result = await hooksStatus(deps, assistant);
    return this.show(result, () => statusText(result));
  }
}
