import { adopt, adoptedText, type Adopted } from '../../lib/app/adopt';
import { BaseCommand, word } from '../../lib/cli/base-command';

export default class SyncAdopt extends BaseCommand {
  static override summary = "Take over an old machine's data in this area";
  static override description =
    'For a machine that you no longer use, after its area was copied or synced here. Its pending deliveries and captures become those of this machine, and its id is retired. If it owned the area, this machine becomes the owner. A retired machine that is used again gets a new id.';
  static override args = {
    machine: word({ required: true, description: 'Id of the old machine, as in `doctor area`.' }),
  };
  static override examples = [
    '<%= config.bin %> sync adopt 0123456789ab',
    '<%= config.bin %> sync adopt 0123456789ab --json',
  ];
  static override related = ['doctor area', 'sync forget MACHINE'];

  async run(): Promise<Adopted> {
    const { args } = await this.parse(SyncAdopt);
    const adopted = await adopt(this.context, args.machine);
    return this.show(adopted, () => adoptedText(adopted));
  }
}
