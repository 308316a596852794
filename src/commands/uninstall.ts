import { BaseCommand, boolean, text } from '../lib/cli/base-command';
import { planPurge, type PurgePlan, consentToPurge, purgeData } from '../lib/setup/install/purge';
import { jobsNamed } from '../lib/setup/install/install';
import {
  ALL_PARTS,
  uninstallAll,
  type Uninstalled,
  type UninstallParts,
} from '../lib/setup/install/uninstall';
import { uninstalledText } from '../lib/setup/install/view';
import { EXIT_CODES } from '../lib/platform/terminal/exit-codes';

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
    const dryRun = flags['dry-run'];
    const plan = flags.purge ? planPurge(this.context.area) : null;
    if (plan !== null)
      await consentToPurge(plan, { yes: flags.yes, dryRun, json: this.json }, (text) => this.say(text));
    const parts = partsOf(flags);
    const done = await uninstallAll(this.context, { root: this.config.root, parts, dryRun });
    this.print(() => uninstalledText(done));
    if (done.left.length > 0) process.exitCode = EXIT_CODES.conflict;
    if (dryRun || plan === null) {
      if (!dryRun && parts === ALL_PARTS)
        this.say(`What was kept stays in ${this.context.area.root}; --purge removes it, too.`);
      return { ...done, purged: plan };
    }
    await purgeData(this.context, done, (text) => this.say(text));
    this.print(() => 'Removed the data. The program goes with: npm uninstall --global steward-cli');
    return { ...done, purged: plan };
  }
}

/** Without a part that is named: all of them. */
function partsOf(flags: { jobs?: string | undefined; hooks: boolean; completion: boolean }): UninstallParts {
  if (flags.jobs === undefined && !flags.hooks && !flags.completion) return ALL_PARTS;
  const jobs = flags.jobs === undefined ? [] : jobsNamed(flags.jobs);
  return { jobs, hooks: flags.hooks, completion: flags.completion };
}
