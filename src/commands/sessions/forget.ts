import { join } from 'node:path';

import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openSessions } from '../../lib/app/sessions';
import { forgetSessions, type Forgotten } from '../../lib/sessions/forget';

export default class SessionsForget extends BaseCommand {
  static override summary = "Forget all that the assistant's hooks have stored.";
  static override description =
    'The log of the hooks, the state of the sessions, and what waits to be done for them. Artifacts are yours and stay. There is no way back, so it only shows what it would do until you add --yes.';
  static override flags = {
    yes: boolean({ char: 'y', description: 'Do it; without it nothing is removed.' }),
  };
  static override examples = ['<%= config.bin %> sessions forget', '<%= config.bin %> sessions forget --yes'];
  static override related = ['sense purge', 'hooks uninstall'];

  async run(): Promise<Forgotten> {
    const { flags } = await this.parse(SessionsForget);
    const { area } = this.context;
    const sessions = await openSessions(this.context);
    const deps = Object.assign(sessions, {
      spool: area.spool,
      hookLog: join(area.observability, 'hooks.jsonl'),
    });
    const result = await forgetSessions(deps, !flags.yes);
    const verb = result.dryRun ? 'Would remove' : 'Removed';
    this.print(() =>
      result.files.length === 0
        ? 'The hooks have stored nothing.'
        : result.files.map((file) => `${verb} ${file}`).join('\n'),
    );
    if (result.dryRun && result.files.length > 0) this.say('Nothing was removed. Add --yes to do it.');
    return result;
  }
}
