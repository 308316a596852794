import { StewardError } from '../errors';
import { labelOf } from './describe';
import { findSession } from './find';
import { giveName, namesFolder } from './names';
import { isNameless } from './slug';
import { currentSessions, type SessionsDeps } from './state';

/**
 * Names a session, or removes its name if the text is empty; `name` is then null. `before` is the previous name.
 */
export function nameSession(deps: SessionsDeps, wanted: string, text: string) {
  const session = findSession(currentSessions(deps), wanted, deps.clock.now());
  if (isNameless(session.slug))
    throw new StewardError('usage', 'A restricted session has no name.', {
      hint: `Use its number, or ${session.slug}.`,
    });
  const before = labelOf(session) ?? session.slug;
  return { slug: session.slug, name: giveName(namesFolder(deps.area.machine), session, text), before };
}
