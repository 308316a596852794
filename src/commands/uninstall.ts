import { BaseCommand, boolean, text } from '../lib/cli/base-command';
import { EXIT_CODES } from '../lib/platform/terminal/error-report';
import { consentToPurge, planPurge, purgeData } from '../lib/setup/install/purge';
import type { PurgePlan } from '../lib/setup/install/view';
import { partsOf, uninstallAll, type Uninstalled } from '../lib/setup/install/uninstall';
import { leftText, uninstalledText } from '../lib/setup/install/view';

export default class Uninstall extends BaseCommand {
  static override summary = 'Remove everything that steward installed (with --purge, your data too)';
  static override description =
    'Stops the daemon and removes jobs, hooks and completion scripts. Your data remains unless you add --purge and confirm. Files that changed after the installation are listed, not removed.';
  static override flags = {
    jobs: text({
      description: 'Remove only these jobs: all, daemon or tick.',
      helpValue: 'LIST',
      exclusive: ['purge'],
    }),
    hooks: boolean({ description: 'Remove only the hooks and the work skill.', exclusive: ['purge'] }),
    completion: boolean({ description: 'Remove only completion scripts.', exclusive: ['purge'] }),
    purge: boolean({
      description: 'Also delete the user area, machine-local state, cache and published files.',
    }),
    yes: boolean({ char: 'y', description: 'Skip the confirmation for --purge.' }),
    'dry-run': boolean({ description: 'Only show what would be removed.' }),
  };
  static override examples = [
    '<%= config.bin %> uninstall --dry-run',
    '<%= config.bin %> uninstall --jobs tick --hooks',
    '<%= config.bin %> uninstall --purge',
  ];
  static override related = ['install', 'hooks uninstall', 'sense purge', 'config path'];

  async run(): Promise<Uninstalled & { purged: PurgePlan | null }> {
    const { flags } = await this.parse(Uninstall);
    const { yes, 'dry-run': dryRun } = flags;
    const say = (text: string): void => this.say(text);
    const purged = flags.purge ? await planPurge(this.context) : null;
    if (purged !== null) await consentToPurge(purged, { yes, dryRun, json: this.json }, say);
    const parts = partsOf(flags);
    const done = await uninstallAll(this.context, parts, dryRun);
    this.print(() => uninstalledText(done));
    if (done.left.length > 0) process.exitCode = EXIT_CODES.conflict;
    if (purged === null && !dryRun && parts.isWhole)
      say(`Your data is still in ${this.context.area.root}; --purge deletes it too.`);
    if (purged !== null && !dryRun) {
      const left = await purgeData(this.context, { isShimGone: done.hooks.shim.removed }, say);
      done.left.push(...left);
      if (left.length > 0) process.exitCode = EXIT_CODES.conflict;
      left.forEach((part) => this.print(() => leftText(part)));
      this.print(() => 'Deleted the data. To remove the program: npm uninstall --global steward-cli');
    }
    return { ...done, purged };
  }
}
