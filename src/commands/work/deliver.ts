import { BaseCommand } from '../../lib/cli/base-command';
import { deliverNow } from '../../lib/app/capture';
import type { DrainResult } from '../../lib/sessions/spool';

export default class WorkDeliver extends BaseCommand {
  static override hidden = true;
  static override summary = 'Send what the hooks have captured to the work repository.';
  static override description =
    'What a hook starts after a capture. What cannot be sent now (offline, no credential) waits, and the daemon tries again.';
  static override examples = ['<%= config.bin %> work deliver', '<%= config.bin %> work deliver --json'];
  static override related = ['work status', 'hooks status'];

  async run(): Promise<DrainResult> {
    await this.parse(WorkDeliver);
    const result = await deliverNow(this.context);
    this.print(() =>
      result.busy
        ? 'Another process delivers already.'
        : `${result.done} done, ${result.later + result.failed} waiting, ${result.dead} given up`,
    );
    return result;
  }
}
