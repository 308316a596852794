import { type SetResult, valueWords } from '../config/set';
import { clean } from '../platform/terminal/terminal';
import { BaseCommand, boolean, word } from './base-command';

export const keyArg = word({
  required: true,
  description: 'Key, such as sense.pollIntervalSec. List all keys with `config show --all`.',
});

/** Base class for commands that change one configuration key. */
export abstract class ConfigEdit extends BaseCommand {
  static override flags = { 'dry-run': boolean({ description: 'Show the change without writing it.' }) };

  protected async report(result: SetResult, unchanged = 'is already'): Promise<SetResult> {
    const { key, file, before, after, changed, dryRun, overriddenBy } = result;
    const verb = changed ? (dryRun ? 'would be' : 'is now') : unchanged;
    const was = changed && before !== null ? ` (was ${valueWords(before)})` : '';
    this.print(() => clean(`${key} ${verb} ${valueWords(after)}${was}, in ${file}`));
    if (overriddenBy !== null)
      this.say(`${overriddenBy} overrides the file. Unset the variable to use this value.`);
    else if (key === 'timezone' && changed && !dryRun) await this.sayZoneOfToday(String(after));
    return result;
  }

  private async sayZoneOfToday(next: string): Promise<void> {
    const { zoneOfToday } = await import('../sense/store');
    const today = zoneOfToday(this.context, next);
    if (today !== undefined && today !== next)
      this.say(`Today ends at midnight in ${next}. Its record shows hours in ${today}.`);
  }
}
