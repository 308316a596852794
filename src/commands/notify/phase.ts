import { BaseCommand, text, word } from '../../lib/cli/base-command';
import { openPhase } from '../../lib/app/sessions';
import { setPhase } from '../../lib/notify/phase';
import { phase } from '../../lib/sessions/phases';

export default class NotifyPhase extends BaseCommand {
  static override hidden = true;
  static override summary = "Set a session's phase without sending a notification";
  static override description =
    "Stores the phase and shows it in the session's terminal tab. Without --slug, uses the latest unfinished session from the last two hours.";
  static override args = {
    phase: word({ required: true, description: 'The phase, such as "execute"' }),
  };
  static override flags = {
    slug: text({ helpValue: 'SLUG', description: 'Slug of the session' }),
  };
  static override examples = [
    'notify phase execute',
    'notify phase verify --slug 20261120-website-0f0e9d1c --json',
  ];
  static override related = ['sessions', 'notify send'];

  async run(): Promise<{ slug: string; phase: string; tab: boolean }> {
    const { args, flags } = await this.parse(NotifyPhase);
    const { slug, phase: id, tab } = await setPhase(await openPhase(this.context), args.phase, flags.slug);
    return this.show({ slug, phase: id, tab }, () => `${phase(id).icon} ${phase(id).label}  ${slug}`);
  }
}
