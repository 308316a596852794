import { string } from '@oclif/core/args';
import { boolean } from '@oclif/core/flags';

import { BaseCommand } from '../../lib/cli/base-command';
import { setConfig, type SetResult } from '../../lib/config/set';
import { valueWords } from '../../lib/config/show';
import { clean } from '../../lib/platform/terminal';

export default class ConfigSet extends BaseCommand {
  static override summary = 'Set one key, in the file that owns it.';
  static override description =
    'The value is checked first. Comments and formatting of the file stay. Secrets may be given as env:NAME or file:PATH, so that they are in no file of steward and in no shell history.';
  static override args = {
    key: string({
      required: true,
      ignoreStdin: true,
      description: 'A key as `config show` lists it, such as sense.pollIntervalSec.',
    }),
    value: string({
      required: true,
      ignoreStdin: true,
      description: 'The value; a list as a,b or as JSON.',
    }),
  };
  static override flags = {
    'dry-run': boolean({ description: 'Say what would change, and write nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> config set sense.pollIntervalSec 60',
    '<%= config.bin %> config set sense.repos /home/ann/notes,/home/ann/site',
    '<%= config.bin %> config set notifications.push.topic file:~/.secrets/topic',
  ];
  static override related = ['config show', 'config path'];

  async run(): Promise<SetResult> {
    const { args, flags } = await this.parse(ConfigSet);
    const result = await setConfig(this.context, { ...args, dryRun: flags['dry-run'] });
    this.print(() => clean(words(result)));
    if (result.overriddenBy !== null) {
      this.say(
        `The variable ${result.overriddenBy} is set and stands over the file: unset it to use this value.`,
      );
    }
    return result;
  }
}

function words({ key, file, before, after, changed, dryRun }: SetResult): string {
  if (!changed) return `${key} is ${valueWords(after)} already, in ${file}`;
  const was = before === null ? '' : ` (was ${valueWords(before)})`;
  return `${key} ${dryRun ? 'would be' : 'is now'} ${valueWords(after)}${was}, in ${file}`;
}
