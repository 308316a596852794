import { BaseCommand } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { routesReport, type RoutesReport } from '../../lib/notify/routing';
import { routesText } from '../../lib/notify/view';

export default class NotifyRoutes extends BaseCommand {
  static override summary = 'Show which channels each event goes to';
  static override description =
    'Also shows the mute state, quiet hours, and channels that are off or failing. To change a route, run `config set notifications.routing.EVENT push,chat`. To have an event spoken, run `config add notifications.voice.events EVENT`.';
  static override examples = [
    'notify routes',
    {
      description: 'Show the channels for one event',
      command: `notify routes --json | jq '.events[] | select(.event == "error").channels'`,
    },
  ];
  static override related = ['notify test', 'notify mute', 'config set KEY VALUE'];

  async run(): Promise<RoutesReport> {
    const { deps } = await openNotify(this.context);
    const report = await routesReport(deps);
    return this.show(report, () =>
      routesText(report, { ...this.terminal, zone: deps.settings().zone, nowMs: deps.clock.now() }),
    );
  }
}
