import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openSense } from '../../lib/app/sense';
import { withRemoval } from '../../lib/app/sync';
import { purgeUsage } from '../../lib/app/usage';
import { definedOnly } from '../../lib/platform/files/json-object';
import { purge, type PurgeResult } from '../../lib/sense/purge';
import { purgeText } from '../../lib/sense/view-status';

export default class SensePurge extends BaseCommand {
  static override summary = 'Delete captured data: a day, an application, a repository, or all';
  static override description =
    'Only shows what it would delete until you add --yes; deleted data cannot be restored. Records that still have their event log are rebuilt. Also deletes the stored token usage of these days or this repository. For data of assistant hooks, see "sessions forget".';
  static override flags = {
    day: text({ description: 'Only this day.', helpValue: 'DAY' }),
    before: text({ description: 'Only days before this one.', helpValue: 'DAY' }),
    app: text({ description: 'Only this application: its name or bundle id.', helpValue: 'NAME' }),
    repo: text({ description: 'Only this repository: its name or path.', helpValue: 'NAME' }),
    all: boolean({ description: 'Everything that has been captured.' }),
    records: boolean({ description: 'Also delete records that contain this data and cannot be rebuilt.' }),
    yes: boolean({ char: 'y', description: 'Delete the data. Without this flag, nothing changes.' }),
  };
  static override examples = [
    '<%= config.bin %> sense purge --app Solitaire',
    '<%= config.bin %> sense purge --day 2026-11-20 --yes',
  ];
  static override related = ['config set sense.exclude A,B', 'sense export', 'sessions forget'];

  async run(): Promise<PurgeResult & { usage: string[] }> {
    const { flags } = await this.parse(SensePurge);
    const { yes, day, before, app, repo, all, records } = flags;
    const { deps, locked, readDay } = await openSense(this.context);
    const selection = {
      all,
      records,
      ...(app === undefined ? {} : { app }),
      ...(repo === undefined ? {} : { repo }),
      ...(day === undefined ? {} : { day: await readDay(day) }),
      ...(before === undefined ? {} : { before: await readDay(before) }),
    };
    const work = async (): Promise<PurgeResult & { usage: string[] }> => {
      const purged = await locked(() => purge(deps, selection, !yes));
      // Token usage isn't recorded by application.
      const usage = app === undefined ? await purgeUsage(this.context, selection, !yes) : [];
      return { ...purged, usage };
    };
    const { value: result, problem } = yes
      ? await withRemoval(this.context, definedOnly({ day: selection.day, before: selection.before }), work)
      : { value: await work() };
    if (problem !== undefined) this.say(problem);
    this.print(() => purgeText(result));
    if (result.dryRun) this.say('Nothing was deleted. Add --yes to delete.');
    return result;
  }
}
