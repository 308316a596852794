import { BaseCommand } from '../lib/cli/base-command';
import { importReport, planImport, runImport, type ImportResult } from '../lib/setup/import';
import { importText } from '../lib/setup/import/item';
import { setUpSteward, summaryText, type InitSummary } from '../lib/setup/init';
import { asking, consent, INIT_FLAGS } from '../lib/setup/init/step';

export default class Init extends BaseCommand {
  static override summary = 'Set up steward with a few questions';
  static override description =
    "Saves each answer immediately; rerun the command to continue or to change settings. With --yes, asks no questions and applies only the flags. --import copies another system's data without overwriting yours.";
  static override flags = INIT_FLAGS;
  static override examples = [
    'init',
    'init --import ~/.old-system --dry-run',
    'init --yes --name Ann --repos-below ~/src --jobs daemon',
  ];
  static override related = ['status', 'up', 'install', 'config show'];

  async run(): Promise<InitSummary | ImportResult> {
    const { flags } = await this.parse(Init);
    if (flags.import !== undefined) return this.importFrom(flags.import, flags);
    const hint = 'Use flags instead, such as: steward init --yes --name NAME';
    const { summary, wasShown } = flags.yes
      ? await setUpSteward(this.context, { flags, say: this.say, questions: undefined })
      : await asking(hint, (questions) => setUpSteward(this.context, { flags, say: this.say, questions }));
    return this.show(summary, () => summaryText(summary, wasShown));
  }

  private async importFrom(
    folder: string,
    flags: { yes: boolean; 'dry-run': boolean },
  ): Promise<ImportResult> {
    const plan = await planImport(this.context, folder);
    const report = importReport(plan, flags['dry-run']);
    this.print(() => importText(report, this.terminal));
    const count = plan.items.filter(({ state }) => state === 'new').length;
    if (flags['dry-run'] || count === 0) return report;
    const hint = 'Add --yes to confirm, or --dry-run to preview.';
    if (!flags.yes)
      await consent(`Copy these ${count} items to ${this.context.area.root}?`, {
        hint,
        no: 'Nothing was imported.',
      });
    const result = await runImport(this.context, plan);
    return this.show(result, () => `Imported ${result.imported} items. The originals are unchanged.`);
  }
}
