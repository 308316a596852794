import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openSessions } from '../../lib/app/sessions';
import { spoolStatus } from '../../lib/sessions/spool';
import { currentSessions } from '../../lib/sessions/state';
import { sessionsReport, sessionsText, type SessionsReport } from '../../lib/sessions/view';

export default class Sessions extends BaseCommand {
  static override summary = 'Show the assistant sessions that run now.';
  static override description =
    'What each is about, its repository, phase and age, whether it works or waits for you, and its active subagents. Sessions are reported by the hooks of the assistant. One that said nothing for 12 hours has crashed, or was left.';
  static override flags = {
    all: boolean({ description: 'Also those that ended or crashed.' }),
  };
  static override examples = [
    '<%= config.bin %> sessions',
    {
      description: 'Those that wait for you, for a script',
      command: `<%= config.bin %> sessions --json | jq '.sessions[] | select(.status == "waiting") | .slug'`,
    },
  ];
  static override related = ['sessions show SLUG', 'statusline', 'sense today'];

  async run(): Promise<SessionsReport> {
    const { flags } = await this.parse(Sessions);
    const deps = await openSessions(this.context);
    const nowMs = deps.clock.now();
    const report = sessionsReport(currentSessions(deps), spoolStatus(this.context.area.spool), {
      nowMs,
      all: flags.all,
    });
    return this.show(report, () =>
      sessionsText(report, { ...this.terminal, nowMs, all: flags.all === true }),
    );
  }
}
