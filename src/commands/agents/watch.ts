import { boolean, string as stringFlag } from '@oclif/core/flags';

import { lookOnce, watch, type SilenceAlert, type WatchedSession } from '../../lib/agents/watchdog';
import { alertText, watchedText } from '../../lib/agents/view';
import { logAlert, openWatchdog, sessionToWatch } from '../../lib/cli/agents-context';
import { BaseCommand } from '../../lib/cli/base-command';
import { EXIT_CODES } from '../../lib/cli/exit-codes';
import { interruptSignal } from '../../lib/platform/own-process';

export default class AgentsWatch extends BaseCommand {
  static override summary = 'Watch for agents that have gone silent.';
  static override description =
    'Tells once when agents are active and made no tool call for 90 seconds, and again only after a tool call has ended that silence. It reads what the hooks of the assistant report ("hooks install"). One watchdog a session; --session watches one until it ends. With --json each alert is one line of JSON.';
  static override flags = {
    once: boolean({ description: 'Look once, and show how all of them are.' }),
    session: stringFlag({
      description: 'Only this session: its slug, its id, or - for the hook JSON on stdin.',
      helpValue: 'SLUG',
    }),
  };
  static override examples = [
    '<%= config.bin %> agents watch',
    '<%= config.bin %> agents watch --once --json',
  ];
  static override related = ['sessions', 'hooks status'];

  async run(): Promise<WatchedSession[] | undefined> {
    const { flags } = await this.parse(AgentsWatch);
    const deps = await openWatchdog(this.context);
    const session = flags.session === undefined ? undefined : await sessionToWatch(deps, flags.session);
    if (flags.once) {
      const seen = lookOnce(deps).filter((one) => session === undefined || one.session === session);
      this.print(() => watchedText(seen, this.terminal));
      return seen;
    }
    const alert = (told: SilenceAlert): void => {
      logAlert(this.context, told);
      process.stdout.write(this.json ? `${JSON.stringify(told)}\n` : `${alertText(told, this.terminal)}\n`);
    };
    const { signal, release } = interruptSignal();
    this.say(
      session === undefined ? 'Watching all sessions. Ctrl-C ends it.' : `Watching ${session} until it ends.`,
    );
    await watch(deps, { signal, alert, ...(session === undefined ? {} : { session }) });
    if (signal.aborted) process.exitCode = EXIT_CODES.canceled;
    release();
    return undefined;
  }
}
