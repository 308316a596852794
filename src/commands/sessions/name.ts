import { BaseCommand, session, word } from '../../lib/cli/base-command';
import { openSessions } from '../../lib/app/sessions';
import { nameSession } from '../../lib/sessions/rename';
import { clean } from '../../lib/platform/terminal/terminal';

export default class SessionsName extends BaseCommand {
  static override summary = 'Name a session';
  static override description =
    'The name replaces the repository and branch in lists and notifications on this machine. An empty name removes the current name.';
  static override args = {
    session,
    name: word({ description: 'New name, up to 80 characters.', required: true }),
  };
  static override examples = [
    'sessions name shop "Login rewrite"',
    {
      description: "Remove a session's name",
      command: 'sessions name "Login rewrite" ""',
    },
  ];
  static override related = ['sessions', 'go'];

  async run(): Promise<{ slug: string; name: string | null }> {
    const { args } = await this.parse(SessionsName);
    const { before, ...result } = nameSession(await openSessions(this.context), args.session, args.name);
    return this.show(result, () =>
      clean(
        result.name === null ? `Removed the name "${before}".` : `Renamed ${before} to "${result.name}".`,
      ),
    );
  }
}
