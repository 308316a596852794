import { BaseCommand, boolean, integer } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { StewardError } from '../../lib/errors';
import { isInteractive, confirm } from '../../lib/platform/terminal/ask';
import { undo, undoable, type Undone } from '../../lib/work/capture/undo';
import { undoableText, undoneText } from '../../lib/work/view-results';

export default class WorkUndo extends BaseCommand {
  static override summary = 'Take back what the last prompt asked to be kept.';
  static override description =
    'A capture that was not sent yet never leaves this machine; one that has an issue is closed as not planned. The same words are captured again when you say them again.';
  static override flags = {
    last: integer({ description: 'Of how many prompts.', default: 1, min: 1, max: 50, helpValue: 'N' }),
    yes: boolean({ description: 'Do not ask; needed without a terminal.' }),
  };
  static override examples = ['<%= config.bin %> work undo', '<%= config.bin %> work undo --last 3 --yes'];
  static override related = ['work list', 'work close NUMBER'];

  async run(): Promise<{ undone: Undone[] }> {
    const { flags } = await this.parse(WorkUndo);
    const work = await openWork(this.context);
    const { deps } = work;
    const options = work.shown(this.terminal);
    const captures = undoable(deps, flags.last);
    if (captures.length > 0 && !flags.yes) {
      if (!isInteractive()) {
        throw new StewardError('usage', 'Nobody can be asked whether to take it back.', {
          hint: 'Add --yes.',
        });
      }
      this.say(undoableText(captures, options));
      if (!(await confirm('Take it back?', 'no'))) {
        this.say('Nothing was taken back.');
        return { undone: [] };
      }
    }
    const undone = await undo(deps, captures);
    this.print(() => undoneText(undone, options));
    return { undone };
  }
}
