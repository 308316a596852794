import { BaseCommand, boolean, limit } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { StewardError } from '../../lib/errors';
import { isInteractive, confirm } from '../../lib/platform/terminal/ask';
import { undo, undoable, type Undone } from '../../lib/work/capture/undo';
import { undoableText, undoneText } from '../../lib/work/view-results';

export default class WorkUndo extends BaseCommand {
  static override summary = 'Undo the captures of the last prompt';
  static override description =
    'Discards unsent captures. Issues that were already created are closed as not planned. If you repeat the request in a prompt, it is captured again.';
  static override flags = {
    limit: limit('Number of prompts to undo.', 1, 50),
    yes: boolean({ description: 'Skip the confirmation; required without a terminal.' }),
  };
  static override examples = ['work undo', 'work undo --limit 3 --yes'];
  static override related = ['work list', 'work close NUMBER'];

  async run(): Promise<{ undone: Undone[] }> {
    const { flags } = await this.parse(WorkUndo);
    const work = await openWork(this.context);
    const { deps } = work;
    const options = work.shown(this.terminal);
    const captures = undoable(deps, flags.limit);
    if (captures.length > 0 && !flags.yes) {
      if (!isInteractive()) {
        throw new StewardError('usage', 'No terminal to ask on.', {
          hint: 'Add --yes.',
        });
      }
      this.say(undoableText(captures, options));
      if (!(await confirm('Undo?', 'no'))) {
        this.say('Nothing was undone.');
        return { undone: [] };
      }
    }
    const undone = await undo(deps, captures);
    return this.show({ undone }, () => undoneText(undone, options));
  }
}
