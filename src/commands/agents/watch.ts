import { lookOnce, watch, type SilenceAlert, type WatchedSession } from '../../lib/agents/watchdog';
import { alertText, watchedText } from '../../lib/agents/view';
import { openWatchdog, sessionToWatch } from '../../lib/app/agents';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { tellOfSilence } from '../../lib/app/silence-notice';
import { EXIT_CODES } from '../../lib/platform/terminal/error-report';
import { interruptSignal } from '../../lib/platform/process/own-process';

export default class AgentsWatch extends BaseCommand {
  static override summary = 'Watch for agents that have gone silent.';
  static override description =
    'Tells once when agents are active and made no tool call for 90 seconds, and again only after a tool call has ended that silence: here, and by a backgroundAgent notification, which is never spoken. It reads what the hooks of the assistant report. Once they are installed ("hooks install") the daemon watches by itself, and where none runs a process that lives as long as agents are active. One watchdog a session; --session watches one until it ends. With --json each alert is one line of JSON.';
  static override flags = {
    once: boolean({ description: 'Look once, and show how all of them are; nobody is told.' }),
    session: text({
      description: 'Only this session: its slug, its id, or - for the hook JSON on stdin.',
      helpValue: 'SLUG',
    }),
    'until-idle': boolean({
      dependsOn: ['session'],
      description: 'End once no agent of the session is active, and at once where another one watches it.',
    }),
    notify: boolean({
      allowNo: true,
      default: true,
      description: 'Send each alert as a notification, too; --no-notify only shows it here.',
    }),
  };
  static override examples = [
    '<%= config.bin %> agents watch',
    '<%= config.bin %> agents watch --once --json',
  ];
  static override related = ['sessions', 'hooks status', 'notify routes'];

  async run(): Promise<Omit<WatchedSession, 'since'>[] | undefined> {
    const { flags } = await this.parse(AgentsWatch);
    const deps = await openWatchdog(this.context);
    const session = flags.session === undefined ? undefined : await sessionToWatch(deps, flags.session);
    if (flags.once) {
      const seen = lookOnce(deps).filter((one) => session === undefined || one.session === session);
      return this.show(seen, () => watchedText(seen, this.terminal));
    }
    // An assistant, and the hook, start one at each agent.
    const byHook = flags.session === '-' || flags['until-idle'];
    const { config } = await this.context.loadConfig();
    const alert = async (told: SilenceAlert): Promise<void> => {
      this.print(() => alertText(told, { ...this.terminal, zone: config.user.timezone }));
      this.printLine(told);
      const unsent = await tellOfSilence(this.context, told, { notify: flags.notify });
      if (unsent !== undefined) this.say(unsent);
    };
    const { signal, release } = interruptSignal();
    if (!byHook) this.say(`Watching ${session ?? 'all sessions'}. Ctrl-C ends it.`);
    await watch(deps, {
      signal,
      alert,
      ifFree: byHook,
      untilIdle: flags['until-idle'],
      ...(session === undefined ? {} : { session }),
    });
    if (signal.aborted) process.exitCode = EXIT_CODES.canceled;
    release();
    return undefined;
  }
}
