import { openTick } from '../lib/app/tick';
import { BaseCommand } from '../lib/cli/base-command';
import { runTick, type Ticked } from '../lib/daemon/tick';
import { table } from '../lib/platform/terminal/format';
import { clean } from '../lib/platform/terminal/terminal';

export default class Tick extends BaseCommand {
  static override hidden = true;
  static override summary = 'Capture, deliver, and run what is due, without a daemon';
  static override description =
    'Captures, publishes to your other machines, delivers notifications and captured issues, and once an hour runs the work sweep and, if sense.insight.hourly is true, builds an insight. "steward install jobs" schedules this command. Does nothing while the daemon is running.';
  static override examples = ['tick', 'tick --json'];
  static override related = ['install', 'sense capture', 'work sweep'];

  async run(): Promise<Ticked> {
    const jobs = await openTick(this.context, this.say);
    const result: Ticked = { daemon: jobs === undefined, steps: await runTick(jobs ?? []) };
    for (const { id, ok, reason } of result.steps) if (!ok) this.say(`${id}: ${reason ?? 'failed'}`);
    if (result.steps.some(({ id, ok }) => id === 'capture' && !ok)) process.exitCode = 1;
    return this.show(result, () =>
      result.daemon
        ? 'The daemon is running, so there is nothing to do.'
        : table(result.steps.map(({ id, ok, reason }) => [id, ok ? clean(reason ?? 'ok') : 'failed'])),
    );
  }
}
