import { type SetResult, valueWords } from '../config/set';
import { clean } from '../platform/terminal/terminal';
import { BaseCommand, boolean, word } from './base-command';

export const keyArg = word({
  required: true,
  description: 'A key as `config show` lists it, such as sense.pollIntervalSec.',
});

export const dryRunFlag = boolean({ description: 'Say what would change, and write nothing.' });

/** A command that changes one key, and says what it did. */
export abstract class ConfigEdit extends BaseCommand {
  /** @param unchanged what there is to say when nothing changed */
  protected async report(result: SetResult, unchanged = 'is already'): Promise<SetResult> {
    const { key, file, before, after, changed, dryRun, overriddenBy } = result;
    const verb = changed ? (dryRun ? 'would be' : 'is now') : unchanged;
    const was = changed && before !== null ? ` (was ${valueWords(before)})` : '';
    this.print(() => clean(`${key} ${verb} ${valueWords(after)}${was}, in ${file}`));
    if (overriddenBy !== null)
      this.say(`The variable ${overriddenBy} is set and stands over the file: unset it to use this value.`);
    else if (key === 'timezone' && changed && !dryRun) await this.sayZoneOfToday(String(after));
    return result;
  }

  /** A day keeps the zone of its first write. */
  private async sayZoneOfToday(next: string): Promise<void> {
    const { zoneOfToday } = await import('../app/sense');
    const today = zoneOfToday(this.context, next);
    if (today !== undefined && today !== next) this.say(`Today stays in ${today}, from tomorrow on ${next}.`);
  }
}
