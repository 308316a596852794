import type { SharedGroup } from '../platform/files/shared-group';
import { giveName, givenNames } from '../sessions/names';
import type { Session } from '../sessions/session';
import { sessionKey } from '../sessions/session-key';
import { isNameless } from '../sessions/slug';
import { hashedId, isHash } from './format';

/** The names that you gave to sessions, by the hash of a session's last id, which other machines know. */
export function sharedNames(folder: string, sessions: readonly Session[]): SharedGroup {
  const keyed = sessions.map((session) => {
    const keys = session.sessionIds.map((id) => sessionKey(session.assistant, id));
    return { session, keys, hash: hashedId('session', keys.at(-1) ?? '') };
  });
  const known = new Map(keyed.map(({ hash, session }) => [hash, session]));
  const hashes = new Map(keyed.flatMap(({ keys, hash }) => keys.map((key) => [key, hash])));
  const hashOf = (key: string): string => (isHash(key) ? key : (hashes.get(key) ?? hashedId('session', key)));
  return {
    files: [folder],
    read: () => Promise.resolve(new Map([...givenNames(folder)].map(([key, name]) => [hashOf(key), [name]]))),
    write(changes) {
      for (const [hash, value] of changes)
        giveName(folder, known.get(hash) ?? { sessionIds: [hash] }, value?.[0] ?? '');
      return Promise.resolve();
    },
    isValid: (hash, [name = '']) => isHash(hash) && name !== '' && name.length <= 80,
    isHidden: (hash) => isNameless(known.get(hash)?.slug ?? ''),
  };
}
