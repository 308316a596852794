import { BaseCommand, boolean, word } from '../lib/cli/base-command';
import { openDoctor } from '../lib/app/doctor';
import { examine, PARTS } from '../lib/doctor';
import type { DoctorReport } from '../lib/doctor/run';
import { doctorText } from '../lib/doctor/view';
import { withSteps } from '../lib/platform/terminal/progress';
import { StewardError } from '../lib/errors';

export default class Doctor extends BaseCommand {
  static override summary = 'Look at every part for real, and say what mends what does not work.';
  static override description =
    'A line for each: ok, warning, failed, or off where it is not set up. It mends nothing by itself, and asks no other host without --online. Exits 0 when nothing failed; 3 when the configuration is wrong, 8 when something else does not work, 4 when it is only a login; with --strict 8 for a warning, too. A configuration that is wrong fails whatever PART is asked for.';
  static override strict = false;
  static override args = {
    part: word({
      description: `Only this part; several may be given: ${PARTS.join(', ')}.`,
      options: [...PARTS],
    }),
  };
  static override flags = {
    online: boolean({
      description: 'Ask the hosts that you use, too: the work repository, push, chat, the speech provider.',
    }),
    sound: boolean({ description: 'Let the voice be heard, not only made.' }),
    strict: boolean({ description: 'Exit 8 for a warning, too.' }),
  };
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor sense notify --sound',
    {
      description: 'What does not work, for a script',
      command: `<%= config.bin %> doctor --json | jq -r '.checks[] | select(.state == "failed") | .found'`,
    },
  ];
  static override related = ['daemon status', 'sense status', 'hooks status', 'notify test', 'work verify'];

  async run(): Promise<DoctorReport> {
    const { argv, flags } = await this.parse(Doctor);
    const parts = argv.map((word) => partOf(String(word)));
    const { report, exitCode } = await withSteps('Looking at every part', (onStep) =>
      examine(openDoctor(this.context, flags), { parts, strict: flags.strict }, onStep),
    );
    this.print(() => doctorText(report, { ...this.terminal, online: flags.online }));
    if (exitCode !== 0) process.exitCode = exitCode;
    return report;
  }
}

function partOf(word: string): string {
  if (PARTS.includes(word)) return word;
  throw new StewardError('usage', `"${word}" is no part of steward.`, {
    hint: `The parts are ${PARTS.join(', ')}.`,
  });
}
