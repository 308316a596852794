import { completionWords } from '../../lib/cli/completion-words';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { cleanLine } from '../../lib/platform/terminal/terminal';
import { WORD_KINDS, type OfferedWord, type WordKind } from '../../lib/shell/completion';

export default class CompletionWords extends BaseCommand {
  static override hidden = true;
  static override summary = 'Print the names that completion offers';
  static override args = {
    kind: word({ description: 'What to print.', options: [...WORD_KINDS], required: true }),
  };
  static override examples = ['completion words sessions', 'completion words issues --json'];
  static override related = ['completion'];

  async run(): Promise<OfferedWord[]> {
    const { args } = await this.parse(CompletionWords);
    const words = await completionWords(this.context, args.kind as WordKind);
    this.printUnfolded(() => words.map((one) => `${one.word}\t${cleanLine(one.about, 60)}\n`).join(''));
    return words;
  }
}
