import { BaseCommand, boolean, text, word } from '../../lib/cli/base-command';
import { openVoice } from '../../lib/app/speech';
import { speakNow, type SpeakResult } from '../../lib/notify/speech/voice';
import { clean } from '../../lib/platform/terminal/terminal';

export default class NotifySpeak extends BaseCommand {
  static override summary = 'Speak text with the notification voice';
  static override description =
    'Uses your pronunciations, such as {"kubectl": "cube control"} in principal/pronunciations.json in the user area, and pronounces "live" according to context.';
  static override args = {
    text: word({ required: true, description: 'The text, up to 4,000 characters' }),
  };
  static override flags = {
    'dry-run': boolean({ description: 'Print the text that would be spoken' }),
    'voice-id': text({
      description: "A voice from the speech provider (default: your assistant's)",
      helpValue: 'ID',
    }),
  };
  static override examples = [
    'notify speak "The build is green."',
    'notify speak --dry-run "The show is live, where you live."',
  ];
  static override related = ['config show'];

  async run(): Promise<SpeakResult> {
    const { args, flags } = await this.parse(NotifySpeak);
    const result = await speakNow(
      (onProblem) => openVoice(this.context, onProblem),
      { text: args.text, voiceId: flags['voice-id'], dryRun: flags['dry-run'] },
      (problem) => this.say(`${problem.message} ${problem.hint ?? ''}`),
    );
    return this.show(result, () =>
      flags['dry-run'] ? result.spoken : `Spoken with ${clean(result.engine ?? '')}.`,
    );
  }
}
