import { BaseCommand, boolean, text } from '../lib/cli/base-command';
import { EXIT_CODES } from '../lib/platform/terminal/error-report';
import { consentToPurge, planPurge, purgeData, type PurgePlan } from '../lib/setup/install/purge';
import { partsOf, uninstallAll, type Uninstalled } from '../lib/setup/install/uninstall';
import { uninstalledText } from '../lib/setup/install/view';

export default class Uninstall extends BaseCommand {
  static override summary = 'Take back everything that was installed; with --purge the data, too.';
  static override description =
    'Jobs, the daemon that runs, hooks and completion scripts: all that was ever installed on this machine. What steward has kept stays, unless --purge removes it, after a question. --jobs, --hooks and --completion take back only those. What somebody else has changed since is left and named.';
  static override flags = {
    jobs: text({
      description: 'Only jobs: all, or some of sense,insight,work,daemon.',
      helpValue: 'LIST',
      exclusive: ['purge'],
    }),
    hooks: boolean({ description: 'Only the hooks, with the work skill.', exclusive: ['purge'] }),
    completion: boolean({ description: 'Only completion scripts.', exclusive: ['purge'] }),
    purge: boolean({ description: 'Remove the user area, machine-local state and cache, too.' }),
    yes: boolean({ char: 'y', description: 'Answer the question of --purge with yes.' }),
    'dry-run': boolean({ description: 'Say what would be removed, and remove nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> uninstall --dry-run',
    '<%= config.bin %> uninstall --jobs work --hooks',
    '<%= config.bin %> uninstall --purge',
  ];
  static override related = ['install', 'hooks uninstall', 'sense purge', 'config path'];

  async run(): Promise<Uninstalled & { purged: PurgePlan | null }> {
    const { flags } = await this.parse(Uninstall);
    const { yes, 'dry-run': dryRun } = flags;
    const say = (text: string): void => this.say(text);
    const purged = flags.purge ? planPurge(this.context.area) : null;
    if (purged !== null) await consentToPurge(purged, { yes, dryRun, json: this.json }, say);
    const parts = partsOf(flags);
    const done = await uninstallAll(this.context, parts, dryRun);
    this.print(() => uninstalledText(done));
    if (done.left.length > 0) process.exitCode = EXIT_CODES.conflict;
    if (purged === null && !dryRun && parts.isWhole)
      say(`What was kept stays in ${this.context.area.root}; --purge removes it, too.`);
    if (purged !== null && !dryRun) {
      await purgeData(this.context, { isShimGone: done.hooks.shim.removed }, say);
      this.print(() => 'Removed the data. The program goes with: npm uninstall --global steward-cli');
    }
    return { ...done, purged };
  }
}
