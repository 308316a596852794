import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openSense } from '../../lib/app/sense';
import { purge, type PurgeResult } from '../../lib/sense/purge';
import { purgeText } from '../../lib/sense/view-status';

export default class SensePurge extends BaseCommand {
  static override summary = 'Forget what was captured: a day, an application, a repository, or all.';
  static override description =
    'Records of days that still have their raw log are built again without it. What the hooks of an assistant have stored is theirs: see sessions forget. There is no way back, so it only shows what it would do until you add --yes.';
  static override flags = {
    day: text({ description: 'Only this day, up to today.', helpValue: 'DAY' }),
    before: text({ description: 'Only days before this one, tomorrow at most.', helpValue: 'DAY' }),
    app: text({ description: 'Only this application: its name or bundle id.', helpValue: 'NAME' }),
    repo: text({ description: 'Only this repository: its name or path.', helpValue: 'NAME' }),
    all: boolean({ description: 'Everything that sense ever captured.' }),
    records: boolean({ description: 'Also remove records that name it and cannot be built again.' }),
    yes: boolean({ char: 'y', description: 'Do it; without it nothing is removed.' }),
  };
  static override examples = [
    '<%= config.bin %> sense purge --app Solitaire',
    '<%= config.bin %> sense purge --day 2026-11-20 --yes',
  ];
  static override related = ['config set sense.exclude A,B', 'sense export', 'sessions forget'];

  async run(): Promise<PurgeResult> {
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
    const result = await locked(() => purge(deps, selection, !yes));
    this.print(() => purgeText(result));
    if (result.dryRun) this.say('Nothing was removed. Add --yes to do it.');
    return result;
  }
}
