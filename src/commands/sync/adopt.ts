import { adopt, adoptedText, type Adopted } from '../../lib/setup/sync/adopt';
import { BaseCommand, word } from '../../lib/cli/base-command';

export default class SyncAdopt extends BaseCommand {
  static override summary = 'Become the successor of an old machine in this user area';
  static override description =
    'Use this command after copying or syncing the user area of a machine that you no longer use. This machine gets its id and folder, and what this machine recorded until now moves there. Needs the exchange folder. If the old machine runs steward again, one of them gets a new id.';
  static override args = {
    machine: word({ required: true, description: 'Id of the old machine, from `doctor area`.' }),
  };
  static override examples = ['sync adopt 0123456789ab', 'sync adopt 0123456789ab --json'];
  static override related = ['doctor area', 'sync forget MACHINE'];

  async run(): Promise<Adopted> {
    const { args } = await this.parse(SyncAdopt);
    const adopted = await adopt(this.context, args.machine);
    return this.show(adopted, () => adoptedText(adopted));
  }
}
