import { BaseCommand, boolean, dryRun, of, repo, text } from '../../lib/cli/base-command';
import { openSense } from '../../lib/app/sense';
import { withRemoval } from '../../lib/setup/sync/leave';
import { openUsage } from '../../lib/app/usage';
import { sweepArea } from '../../lib/config/user-area';
import { definedOnly } from '../../lib/platform/files/json-object';
import { removeFile } from '../../lib/platform/files/folder';
import { purge, type PurgeResult } from '../../lib/sense/purge';
import { purgeText } from '../../lib/sense/view-status';
import { heldFiles } from '../../lib/sessions/held';

export default class SensePurge extends BaseCommand {
  static override summary = 'Delete captured data: a day, an application, a repository, or all of it';
  static override description =
    'Shows what would be deleted; add --yes to delete it permanently. Rebuilds records that still have their event log. Also deletes the token usage of the selected days or repository. With --all and --records, also deletes the history and queue of notifications. To delete hook data, use "sessions forget".';
  static override flags = {
    of: of('Only data from these days'),
    app: text({
      helpGroup: 'SELECTION',
      description: 'Only data for this application (name or bundle id), or of site:NAME and its subdomains.',
      helpValue: 'NAME',
    }),
    repo,
    all: boolean({ helpGroup: 'SELECTION', description: 'All captured data.' }),
    records: boolean({
      helpGroup: 'SELECTION',
      description: 'Also delete records with this data that cannot be rebuilt, with everything else in them.',
    }),
    yes: boolean({
      char: 'y',
      description: 'Delete the data instead of showing a preview.',
      exclusive: ['dry-run'],
    }),
    'dry-run': dryRun('Only show what would be deleted (the default).'),
  };
  static override examples = ['sense purge --app Solitaire', 'sense purge --of 2026-11-20 --yes'];
  static override related = ['config set sense.exclude A,B', 'sense export', 'sessions forget'];

  async run(): Promise<PurgeResult & { usage: string[]; files: string[] }> {
    const { flags } = await this.parse(SensePurge);
    const { yes, app, repo: wanted, all, records } = flags;
    const { deps, locked } = await openSense(this.context);
    const { from, to } = flags.of === undefined ? {} : await this.period(flags.of);
    const range = definedOnly({ from, to });
    const selection = { all, records, ...definedOnly({ app, repo: wanted }), ...range };
    const work = async (): Promise<PurgeResult & { usage: string[] }> => {
      const purged = await locked(() => purge(deps, selection, !yes));
      // Token usage isn't recorded per application, so purging an application deletes no usage data.
      if (app !== undefined) return { ...purged, usage: [] };
      const { names: repos, others = [], unclear = [] } = purged.repo ?? {};
      // Usage has no path, so it may belong to another repository with the same name.
      const isClear = others.length === 0;
      const days = await (
        await openUsage(this.context)
      ).purge(definedOnly({ ...selection, repos }), !yes || !isClear);
      if (isClear || purged.repo === null) return { ...purged, usage: days };
      return {
        ...purged,
        usage: [],
        repo: { ...purged.repo, unclear: [...new Set([...unclear, ...days])].sort() },
      };
    };
    const result = yes ? await withRemoval(this.context, range, work, this.say) : await work();
    const files = all && records ? heldFiles(this.context.area, 'purge') : [];
    if (yes) {
      for (const file of files) removeFile(file);
      sweepArea(this.context.area);
    }
    return this.show({ ...result, files }, () =>
      [
        purgeText({ ...result, ...definedOnly({ app }) }),
        ...files.map((file) => `${yes ? 'Deleted' : 'Would delete'} ${file}`),
      ].join('\n'),
    );
  }
}
