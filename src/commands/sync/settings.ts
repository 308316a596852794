import { chooseSharing, sharedSettings, takeOther } from '../../lib/setup/sync/settings';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { StewardError } from '../../lib/errors';
import { plural } from '../../lib/platform/terminal/format';

export default class SyncSettings extends BaseCommand {
  static override summary = 'Share settings with your other machines';
  static override description =
    'Shares classification, goals, projects, session names, pronunciations and notification routes, never secrets or restricted work. Of two changes of one entry, the later one counts; `sync status` then shows both, and `take` chooses the other one. Run it on each machine.';
  static override args = {
    choice: word({ options: ['on', 'off', 'take'], description: 'Default: show what is shared.' }),
    entry: word({ description: 'With take: an entry that `sync status` shows, such as goal/G1.' }),
  };
  static override examples = ['sync settings', 'sync settings on', 'sync settings take goal/G1'];
  static override related = ['sync status', 'sync setup --dry-run'];

  async run() {
    const { choice, entry } = (await this.parse(SyncSettings)).args;
    if ((choice === 'take') !== (entry !== undefined)) {
      throw new StewardError('usage', 'An entry is required after take, and only there.', {
        hint: 'Example: steward sync settings take goal/G1',
      });
    }
    if (entry !== undefined) await takeOther(this.context, entry);
    else if (choice !== undefined) await chooseSharing(this.context, choice === 'on');
    const shared = await sharedSettings(this.context);
    const { length } = shared.entries;
    return this.show(shared, () =>
      shared.settings === 'on'
        ? `Shares ${plural(length, 'setting')} with your other machines that also do.`
        : `Shares no settings. "steward sync settings on" would share ${length}, never secrets or restricted work.`,
    );
  }
}
