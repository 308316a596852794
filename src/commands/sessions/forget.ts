import { join } from 'node:path';

import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { installerDeps } from '../../lib/app/context';
import { recordHeard } from '../../lib/assistant/registered';
import { openSense } from '../../lib/app/sense';
import { openSessions } from '../../lib/app/sessions';
import { withRemoval } from '../../lib/setup/sync/leave';
import { openUsage } from '../../lib/app/usage';
import { currentSessions } from '../../lib/sessions/state';
import { forgetSessions, type Forgotten } from '../../lib/sessions/forget';

export default class SessionsForget extends BaseCommand {
  static override summary = 'Delete all data stored by assistant hooks';
  static override description =
    'Deletes the hook log, session state, hook queue, notification history and queue, and token usage per session, but not session files. Shows what would be deleted; add --yes to delete it permanently.';
  static override flags = {
    yes: boolean({ char: 'y', description: 'Delete the files.' }),
  };
  static override examples = ['sessions forget', 'sessions forget --yes'];
  static override related = ['sense purge', 'uninstall'];

  async run(): Promise<Forgotten> {
    const { flags } = await this.parse(SessionsForget);
    const { area } = this.context;
    const sessions = await openSessions(this.context);
    const sense = await openSense(this.context);
    const work = async (): Promise<Forgotten> => {
      if (flags.yes) await recordHeard(installerDeps(this.context), async () => currentSessions(sessions));
      const days = await (await openUsage(this.context)).purge({}, !flags.yes);
      const forgotten = await forgetSessions(this.context, !flags.yes);
      if (flags.yes) await sense.locked(sense.forgetRunning);
      const usage = days.map((day) => join(area.usage, `${day}.json`));
      return { ...forgotten, files: [...forgotten.files, ...usage] };
    };
    const result = flags.yes
      ? await withRemoval(this.context, { sessions: true }, work, this.say)
      : await work();
    const verb = result.dryRun ? 'Would remove' : 'Removed';
    this.print(() =>
      result.files.length === 0
        ? 'No stored hook data.'
        : result.files.map((file) => `${verb} ${file}`).join('\n'),
    );
    if (result.dryRun && result.files.length > 0)
      this.say('Nothing was removed. Add --yes to remove these files.');
    return result;
  }
}
