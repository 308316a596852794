import { type HooksStatus, statusText } from '../../lib/assistant/install-view';
import { throwAll } from '../../lib/errors';
import { BaseCommand, text } from '../../lib/cli/base-command';
import { ASSISTANT_IDS } from '../../lib/sessions/session-key';
import { hooksStatusHere } from '../../lib/setup/install/assistants';

export default class HooksStatusCommand extends BaseCommand {
  static override summary = 'Show the registered hooks and the commands they run';
  static override flags = {
    assistant: text({
      description: `One or more of ${ASSISTANT_IDS.join(', ')}, or all (default: the installed assistants).`,
      helpValue: 'NAMES',
    }),
  };
  static override examples = ['hooks status', 'hooks status --json'];
  static override related = ['install', 'uninstall'];

  async run(): Promise<HooksStatus & { more: HooksStatus[] }> {
    const { flags } = await this.parse(HooksStatusCommand);
    const failures: unknown[] = [];
    const all = await hooksStatusHere(this.context, flags.assistant, (error) => failures.push(error));
    if (all.length > 0) this.print(() => all.map(statusText).join('\n'));
    const [first, ...more] = all as [HooksStatus, ...HooksStatus[]];
    const result = { ...first, more };
    if (all.length > 0 && failures.length > 0) this.printDocument(result);
    throwAll(failures);
    return result;
  }
}
