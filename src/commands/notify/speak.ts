import { BaseCommand, boolean, text, word } from '../../lib/cli/base-command';
import { openVoice } from '../../lib/app/speech';
import { speakNow, type SpeakResult } from '../../lib/notify/speech/voice';
import { clean } from '../../lib/platform/terminal/terminal';

export default class NotifySpeak extends BaseCommand {
  static override summary = 'Say a text aloud, as notifications are said.';
  static override description =
    'The terms of principal/pronunciations.json are said as you wrote them there, and "live" is told apart by what stands around it.';
  static override args = {
    text: word({ required: true, description: 'What to say, up to 4,000 characters.' }),
  };
  static override flags = {
    'dry-run': boolean({ description: 'Only print what would be said.' }),
    'voice-id': text({ description: "The provider's voice; without it the DA's.", helpValue: 'ID' }),
  };
  static override examples = [
    '<%= config.bin %> notify speak "The build is green."',
    '<%= config.bin %> notify speak --dry-run "We are live now, where you live."',
  ];
  static override related = ['config show'];

  async run(): Promise<SpeakResult> {
    const { args, flags } = await this.parse(NotifySpeak);
    const result = await speakNow(
      (onProblem) => openVoice(this.context, onProblem),
      { text: args.text, voiceId: flags['voice-id'], dryRun: flags['dry-run'] },
      (problem) => this.say(`${problem.message} ${problem.hint ?? ''}`),
    );
    this.print(() => (flags['dry-run'] ? result.spoken : `Spoken with ${clean(result.engine ?? '')}.`));
    return result;
  }
}
