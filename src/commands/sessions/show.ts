import { BaseCommand, word } from '../../lib/cli/base-command';
import { localTimes } from '../../lib/platform/time/day-words';
import { openSessions } from '../../lib/app/sessions';
import { currentSessions, findSession } from '../../lib/sessions/state';
import { sessionDetail, sessionText, type SessionDetail } from '../../lib/sessions/view';

export default class SessionsShow extends BaseCommand {
  static override summary = 'Show one session with its history.';
  static override args = {
    slug: word({ description: 'Its slug, or the beginning of it.', required: true }),
  };
  static override examples = [
    '<%= config.bin %> sessions show 20261120-website-3f9a1c2e',
    '<%= config.bin %> sessions show fix-login --json',
  ];
  static override related = ['sessions'];

  async run(): Promise<SessionDetail> {
    const { args } = await this.parse(SessionsShow);
    const deps = await openSessions(this.context);
    const nowMs = deps.clock.now();
    const detail = sessionDetail(findSession(currentSessions(deps), args.slug), nowMs);
    return this.show(detail, () => sessionText(detail, { nowMs, localTime: localTimes(deps.clock) }));
  }
}
