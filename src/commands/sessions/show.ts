import { BaseCommand, session } from '../../lib/cli/base-command';
import { localTimes } from '../../lib/platform/time/day-words';
import { openJump, openSessions } from '../../lib/app/sessions';
import { placesOf } from '../../lib/sessions/jump';
import { findSession } from '../../lib/sessions/find';
import { currentSessions } from '../../lib/sessions/state';
import { sessionText } from '../../lib/sessions/view';
import { sessionDetail, type SessionDetail } from '../../lib/sessions/rows';

export default class SessionsShow extends BaseCommand {
  static override summary = 'Show one session with its history';
  static override args = { session };
  static override examples = ['sessions show shop', 'sessions show fix-login --json'];
  static override related = ['sessions', 'sessions name SESSION NAME'];

  async run(): Promise<SessionDetail> {
    const { args } = await this.parse(SessionsShow);
    const deps = await openSessions(this.context);
    const nowMs = deps.clock.now();
    const found = findSession(currentSessions(deps), args.session, nowMs);
    const places = await placesOf(openJump(this.context), [found]);
    const detail = sessionDetail(found, { nowMs, places });
    return this.show(detail, () => sessionText(detail, { nowMs, localTime: localTimes(deps.clock) }));
  }
}
