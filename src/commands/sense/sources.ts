import { BaseCommand } from '../../lib/cli/base-command';
import { openSense } from '../../lib/app/sense';
import { sources } from '../../lib/sense/read';
import type { SourceStatus } from '../../lib/sense/source';
import { sourcesText } from '../../lib/sense/view-status';

export default class SenseSources extends BaseCommand {
  static override summary = "Show each source: what it captures, whether it works, and today's events";
  static override examples = ['sense sources', 'sense sources --json'];
  static override related = ['sense status', 'config set sense.sources.appFocus false'];

  async run(): Promise<SourceStatus[]> {
    const { deps } = await openSense(this.context);
    const rows = sources(deps);
    return this.show(rows, () =>
      sourcesText(rows, { ...this.terminal, timezone: deps.timezone, now: deps.clock.now() }),
    );
  }
}
