import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { installerDeps } from '../../lib/app/context';
import { registeredAssistants } from '../../lib/assistant/registered';
import { openElsewhere } from '../../lib/app/elsewhere';
import { openJump, openSessions } from '../../lib/app/sessions';
import { placesOf } from '../../lib/sessions/jump';
import { isInteractive } from '../../lib/platform/terminal/ask';
import { isLive } from '../../lib/sessions/session';
import { spoolStatus } from '../../lib/sessions/spool';
import { noteLost } from '../../lib/sessions/state';
import { sessionsNow } from '../../lib/sessions/turn-signs';
import { sessionsText } from '../../lib/sessions/view';
import { reportedLost, sessionsReport, type SessionsReport } from '../../lib/sessions/rows';

export default class Sessions extends BaseCommand {
  static override summary = 'Show the running assistant sessions';
  static override description =
    "Shows one line per session: name (repository and branch), status, activity or request, age, terminal and task; then those of your other machines, with the age of the news. Requires the assistant's hooks (`steward install hooks`).";
  static override flags = {
    all: boolean({ description: 'Include ended sessions.' }),
    watch: boolean({ char: 'w', description: 'Show a live list in the terminal; Enter jumps to a session.' }),
  };
  static override examples = ['sessions', 'sessions --watch', 'sessions --json | jq -r .sessions[].name'];
  static override related = ['go', 'sessions show SESSION', 'statusline'];

  async run(): Promise<SessionsReport | undefined> {
    const { flags } = await this.parse(Sessions);
    if (flags.watch && !this.json && this.terminal.isTTY && isInteractive()) {
      const { watchSessions } = await import('../../lib/cli/watch-sessions');
      await watchSessions(this.context, this.terminal);
      return undefined;
    }
    const deps = await openSessions(this.context);
    const nowMs = deps.clock.now();
    const state = sessionsNow(deps);
    const running = Object.values(state.sessions).filter((session) => isLive(session, nowMs));
    const places = await placesOf(openJump(this.context), running);
    const all = flags.all === true;
    const { rows: elsewhere, silent } = await openElsewhere(this.context);
    const options = { nowMs, places, all, elsewhere };
    const report = sessionsReport(state, spoolStatus(this.context.area.spool), options);
    for (const host of silent) this.say(`${host} did not answer by ssh.`);
    const isFirst = Object.keys(state.sessions).length === 0;
    const isRegistered = isFirst && registeredAssistants(installerDeps(this.context)).length > 0;
    this.show(report, () =>
      sessionsText(report, { ...this.terminal, nowMs, all: all || isFirst, isRegistered }),
    );
    const problem = await noteLost(deps, reportedLost(state, nowMs, this.terminal.isTTY && !this.json));
    if (problem !== undefined)
      this.say(
        `Cannot record that crashed sessions were shown, so the next list will show them again: ${problem}`,
      );
    return report;
  }
}
