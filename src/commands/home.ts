import { BaseCommand } from '../lib/cli/base-command';
import { homeText } from '../lib/setup/home';

export default class Home extends BaseCommand {
  static override hidden = true;
  static override summary = 'Show waiting and running sessions, today and the next issue';
  static override description = 'A bare `steward` on a terminal runs this command once steward is set up.';
  static override examples = ['<%= config.bin %>', 'home', 'home --json'];
  static override related = ['status', 'sessions', 'sense today'];

  async run(): Promise<{ text: string }> {
    const text = await homeText(this.context, this.terminal);
    return this.show({ text }, () => text);
  }
}
