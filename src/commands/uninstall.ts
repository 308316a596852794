import { productRoot } from '../lib/app/context';
import { BaseCommand, boolean, dryRun as previews, text, word } from '../lib/cli/base-command';
import { StewardError, EXIT_CODES } from '../lib/errors';
import { exists } from '../lib/platform/files/folder';
import { howToRemove } from '../lib/platform/terminal/own-command';
import { uninstallAll } from '../lib/setup/install/install';
import { PART_IDS, type PartId, type Uninstalled } from '../lib/setup/install/parts';
import { consentToPurge, planPurge, purgeData, removeCacheAtExit } from '../lib/setup/install/purge';
import { leftText, type PurgePlan } from '../lib/setup/install/view';

export default class Uninstall extends BaseCommand {
  static override summary = 'Remove everything that steward installed (with --purge, your data too)';
  static override description =
    'Stops the daemon and removes jobs, hooks, completion scripts and the cache, or only one part. Your data remains unless you add --purge and confirm. Files that changed after the installation are listed, not removed.';
  static override args = { part: word({ description: 'Part.', options: [...PART_IDS] }) };
  static override flags = {
    assistant: text({ description: 'With hooks: only these assistants.', helpValue: 'NAMES' }),
    purge: boolean({
      description: 'Also delete your data and what was published.',
    }),
    yes: boolean({ char: 'y', description: 'Skip the confirmation for --purge.' }),
    'dry-run': previews('Only show what would be removed.'),
  };
  static override examples = ['uninstall --dry-run', 'uninstall hooks', 'uninstall --purge'];
  static override related = ['install', 'sense purge', 'config path'];

  async run(): Promise<Uninstalled & { purged: PurgePlan | null }> {
    const { args, flags } = await this.parse(Uninstall);
    const { yes, purge, assistant, 'dry-run': dryRun } = flags;
    const parts = args.part === undefined ? PART_IDS : [args.part as PartId];
    const isWhole = args.part === undefined;
    if ((purge && !isWhole) || (assistant !== undefined && args.part !== 'hooks')) {
      const flag = purge ? '--purge' : '--assistant';
      throw new StewardError('usage', `${flag} cannot be combined with this part.`, {
        hint: purge ? 'Omit the part.' : 'Use it with "steward uninstall hooks".',
      });
    }
    const purged = purge ? await planPurge(this.context) : null;
    if (purged !== null) await consentToPurge(purged, { yes, dryRun, json: this.json }, this.say);
    let isAny = false;
    const print = (text: string): void => {
      isAny = true;
      this.print(() => text);
    };
    const done = await uninstallAll(this.context, parts, { dryRun, assistant, print });
    done.left.forEach((part) => print(leftText(part)));
    if (!isAny) print('Nothing is installed.');
    if (isWhole && !dryRun) removeCacheAtExit();
    if (purged === null && !dryRun && isWhole && exists(this.context.area.root))
      this.say(`Your data is still in ${this.context.area.root}; --purge deletes it too.`);
    if (purged !== null && !dryRun) {
      const left = await purgeData(this.context, { isShimGone: done.hooks?.shim.removed === true }, this.say);
      done.left.push(...left);
      left.forEach((part) => print(leftText(part)));
      print(`Deleted the data. ${howToRemove(productRoot(this.context))}`);
    }
    if (done.left.length > 0) process.exitCode = EXIT_CODES.conflict;
    return { ...done, purged };
  }
}
