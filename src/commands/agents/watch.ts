import { sessionToWatch } from '../../lib/agents/input';
import { watchedSessions, watch, type SilenceAlert, type WatchedSession } from '../../lib/agents/watchdog';
import { alertText, watchedText } from '../../lib/agents/view';
import { openSilence } from '../../lib/app/agents';
import { openSessions } from '../../lib/app/sessions';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { EXIT_CODES } from '../../lib/errors';
import { interruptSignal } from '../../lib/platform/process/own-process';

export default class AgentsWatch extends BaseCommand {
  static override summary = 'Alert when the subagents of a session go silent';
  static override description =
    'Alerts once when the active subagents of a session make no tool call for 90 seconds. (Sessions that wait for you are in `inbox`.) Requires the hooks. Once they are installed, the daemon or a background process also sends these alerts.';
  static override flags = {
    once: boolean({ description: 'Show the state of all agents, then exit.' }),
    session: text({
      description: 'Session to watch until it ends (slug, id, or "-" for hook JSON on stdin).',
      helpValue: 'SLUG',
    }),
    'until-idle': boolean({
      dependsOn: ['session'],
      description: 'Exit when the session has no active agents or is already being watched.',
    }),
    notify: boolean({
      allowNo: true,
      default: true,
      description: 'Also send each alert as a notification.',
    }),
  };
  static override examples = ['agents watch', 'agents watch --once --json'];
  static override related = ['sessions', 'hooks status', 'notify routes'];

  async run(): Promise<Omit<WatchedSession, 'since'>[] | undefined> {
    const { flags } = await this.parse(AgentsWatch);
    const deps = await openSessions(this.context);
    const session = flags.session === undefined ? undefined : await sessionToWatch(deps, flags.session);
    if (flags.once) {
      const watched = watchedSessions(deps, session);
      return this.show(watched, () => watchedText(watched, this.terminal));
    }
    const isHook = flags.session === '-' || flags['until-idle'];
    const { config } = await this.context.loadConfig();
    const report = openSilence(this.context, flags.notify);
    const onAlert = async (alert: SilenceAlert): Promise<void> => {
      this.print(() => alertText(alert, { ...this.terminal, zone: config.user.timezone }));
      this.printLine(alert);
      const problem = await report(alert);
      if (problem !== undefined) this.say(problem);
    };
    const { signal, release } = interruptSignal();
    if (!isHook) this.say(`Watching ${session ?? 'all sessions'}. Press Ctrl-C to stop.`);
    await watch(deps, {
      signal,
      alert: onAlert,
      ifFree: isHook,
      untilIdle: flags['until-idle'],
      ...(session === undefined ? {} : { session }),
    });
    if (signal.aborted) process.exitCode = EXIT_CODES.canceled;
    release();
    return undefined;
  }
}
