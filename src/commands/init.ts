import { BaseCommand } from '../lib/cli/base-command';
import { importReport, planImport, runImport, type ImportResult } from '../lib/setup/import';
import { importText } from '../lib/setup/import/item';
import { setUpSteward, summaryText, type InitSummary } from '../lib/setup/init';
import { asking, consent, INIT_FLAGS } from '../lib/setup/init/step';

export default class Init extends BaseCommand {
  static override summary = 'Set up steward, question by question.';
  static override description =
    'Each answer is written at once, so that it may be interrupted and run again. With --yes nobody is asked: flags are the answers, and what no flag names stays as it is. Run again it shows what is set, and changes only what you name. With --import nothing else is done: what another system has stored is copied where steward has nothing yet, and the originals stay as they are.';
  static override flags = INIT_FLAGS;
  static override examples = [
    '<%= config.bin %> init',
    '<%= config.bin %> init --import ~/.old-system --dry-run',
    '<%= config.bin %> init --yes --name Ann --repos-below ~/src --jobs sense,daemon',
  ];
  static override related = ['status', 'up', 'install', 'config show'];

  async run(): Promise<InitSummary | ImportResult> {
    const { flags } = await this.parse(Init);
    if (flags.import !== undefined) return this.takeOver(flags.import, flags);
    const say = (text: string): void => this.say(text);
    const hint =
      'Give the answers as flags, with --yes: steward init --yes --name NAME; see "steward init --help".';
    const { summary, wasShown } = flags.yes
      ? await setUpSteward(this.context, { flags, say, questions: undefined })
      : await asking(hint, (questions) => setUpSteward(this.context, { flags, say, questions }));
    this.print(() => summaryText(summary, wasShown));
    return summary;
  }

  private async takeOver(folder: string, flags: { yes: boolean; 'dry-run': boolean }): Promise<ImportResult> {
    const plan = await planImport(this.context, folder);
    const report = importReport(plan, flags['dry-run']);
    this.print(() => importText(report, this.terminal));
    const count = plan.items.filter(({ state }) => state === 'new').length;
    if (flags['dry-run'] || count === 0) return report;
    const hint = 'Say yes with --yes; --dry-run only shows what would be imported.';
    if (!flags.yes)
      await consent(`Copy these ${count} into ${this.context.area.root}?`, {
        hint,
        no: 'Nothing was imported.',
      });
    const result = await runImport(this.context, plan);
    this.print(() => `Imported ${result.imported}; the originals are as they were.`);
    return result;
  }
}
