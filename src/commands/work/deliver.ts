import { BaseCommand } from '../../lib/cli/base-command';
import { captureDeps } from '../../lib/app/capture';
import type { DrainResult } from '../../lib/sessions/spool';
import { deliverCaptures } from '../../lib/work/capture/deliver';

export default class WorkDeliver extends BaseCommand {
  static override hidden = true;
  static override summary = 'Send captured issues to the work repository';
  static override description =
    'Hooks start this command after capturing an issue. If steward is offline or has no credential, the daemon retries later.';
  static override examples = ['work deliver', 'work deliver --json'];
  static override related = ['work status', 'hooks status'];

  async run(): Promise<DrainResult> {
    const result = await deliverCaptures(await captureDeps(this.context));
    return this.show(result, () =>
      result.busy
        ? 'Another process is already sending the issues.'
        : `${result.done} done, ${result.later + result.failed} waiting, ${result.dead} failed`,
    );
  }
}
