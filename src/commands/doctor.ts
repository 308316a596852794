import { BaseCommand, boolean, word } from '../lib/cli/base-command';
import { openDoctor } from '../lib/setup/doctor';
import { examine, PARTS } from '../lib/doctor';
import type { DoctorReport } from '../lib/doctor/run';
import { doctorText } from '../lib/doctor/view';
import { withSteps } from '../lib/platform/terminal/progress';
import { StewardError } from '../lib/errors';

export default class Doctor extends BaseCommand {
  static override summary = 'Check every part and show how to fix each problem';
  static override description =
    'Changes nothing, and contacts other hosts only with --online. Exit codes: 0 no failures, 3 invalid configuration, 4 only a login is missing, 8 other failures.';
  static override strict = false;
  static override args = {
    part: word({
      description: 'Parts to check.',
      options: [...PARTS],
    }),
  };
  static override flags = {
    online: boolean({
      description: 'Also contact your services (work repository, push, chat, speech provider).',
    }),
    sound: boolean({ description: 'Play the test speech aloud.' }),
    strict: boolean({ description: 'Treat warnings as failures.' }),
  };
  static override examples = ['doctor', 'doctor sense notify --sound'];
  static override related = ['status', 'hooks status', 'notify test'];

  async run(): Promise<DoctorReport> {
    const { argv, flags } = await this.parse(Doctor);
    const parts = argv.map((word) => partOf(String(word)));
    const { report, exitCode } = await withSteps('Checking every part', (onStep) =>
      examine(openDoctor(this.context, flags), { parts, strict: flags.strict }, onStep),
    );
    this.print(() => doctorText(report, { ...this.terminal, online: flags.online }));
    if (exitCode !== 0) process.exitCode = exitCode;
    return report;
  }
}

function partOf(word: string): string {
  if (PARTS.includes(word)) return word;
  throw new StewardError('usage', `Unknown part "${word}".`, {
    hint: `Use ${PARTS.join(', ')}.`,
  });
}
