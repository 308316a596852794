import { BaseCommand, word } from '../../lib/cli/base-command';
import { openSessions } from '../../lib/app/sessions';
import { clean } from '../../lib/platform/terminal/terminal';
import { labelOf } from '../../lib/sessions/describe';
import { findSession } from '../../lib/sessions/find';
import { giveName, namesFolder } from '../../lib/sessions/names';
import { currentSessions } from '../../lib/sessions/state';

export interface NamedSession {
  slug: string;
  /** Null if the name was removed. */
  name: string | null;
}

export default class SessionsName extends BaseCommand {
  static override summary = 'Name a session';
  static override description =
    'The name replaces the repository and branch in lists and notifications. It stays on this machine. An empty name removes it.';
  static override args = {
    session: word({ description: 'Part of its repository, branch, name or slug.', required: true }),
    name: word({ description: 'Its name, up to 80 characters.', required: true }),
  };
  static override examples = [
    '<%= config.bin %> sessions name shop "Login rewrite"',
    { description: 'Remove the name', command: '<%= config.bin %> sessions name "Login rewrite" ""' },
  ];
  static override related = ['sessions', 'go'];

  async run(): Promise<NamedSession> {
    const { args } = await this.parse(SessionsName);
    const deps = await openSessions(this.context);
    const session = findSession(currentSessions(deps), args.session, deps.clock.now());
    const before = labelOf(session) ?? session.slug;
    const name = giveName(namesFolder(deps.locks), session, args.name);
    return this.show({ slug: session.slug, name }, () =>
      clean(name === null ? `Removed the name "${before}".` : `${before} is now "${name}".`),
    );
  }
}
