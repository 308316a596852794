import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { daysIn } from '../platform/files/day-files';
import { shortHash } from '../platform/files/short-hash';
import { marksOf } from '../platform/files/stat';
import { dayBounds, type Day } from '../platform/time/time';
import { VERSION } from '../platform/version';
import { namesFolder } from '../sessions/names';
import { sessionsById, type Session } from '../sessions/session';
import { archiveOf } from '../sessions/state';
import { SENSE_VERSION } from '../time/event';
import type { Disclosure, LocalDay } from './day';
import { FORMAT } from './format';
import type { StoredDays } from './machine-days';
import type { LocalData } from './publish';

interface LocalDeps {
  area: UserArea;
  stored: Pick<StoredDays, 'loggedDays' | 'recordedDays' | 'readRecord' | 'readLogged' | 'today'> & {
    logOf: (day: Day) => string;
    zones: () => (day: Day) => string;
  };
  usageOf: (day: Day) => LocalDay['usage'];
  sessions: readonly Session[];
  details: boolean;
}

const VERSIONS = [VERSION, SENSE_VERSION, FORMAT];

/** Returns a hash that changes whenever the data to publish may have changed. */
export function markOfAll(area: UserArea, logs: readonly string[], input: object): string {
  const { text } = marksOf([
    ...[area.sense.classify, area.sense.events, area.sense.daily, area.usage, ...logs],
    ...[area.sessionsState, area.workEvents, archiveOf(area.sessionsState), namesFolder(area.machine)],
  ]);
  return shortHash(JSON.stringify([text, input, ...VERSIONS]));
}

/** Returns functions that read this machine's data by day. */
export function localData(deps: LocalDeps): LocalData {
  const { area, stored, sessions, details } = deps;
  const { recordedDays, readRecord, readLogged } = stored;
  const [today, zoneOf] = [stored.today(), stored.zones()];
  const known = sessionsById(sessions);
  const about: Disclosure['about'] = (id) => {
    const session = known.get(id);
    return session && detailsOf(session);
  };
  const logged = stored.loggedDays();
  const read = (day: Day): LocalDay => {
    const usage = deps.usageOf(day);
    const record = day < today ? readRecord(day) : undefined;
    return logged.includes(day) ? { ...readLogged(day, record), usage } : { record, parts: undefined, usage };
  };
  return {
    read,
    disclosure: { details, about },
    days: () =>
      [...new Set([...logged, ...recordedDays(), ...daysIn(area.usage)])]
        .filter((day) => day <= today)
        .sort(),
    markOf(day) {
      const records = [area.sense.daily, area.usage].map((folder) => join(folder, `${day}.json`));
      const { text } = marksOf([stored.logOf(day), ...records, area.sense.classify]);
      const shown = sessionsOf(sessions, day, zoneOf(day)).map((session) => [
        session.sessionIds,
        details && detailsOf(session),
      ]);
      return shortHash(JSON.stringify([text, details, day < today, zoneOf(day), ...VERSIONS, shown]));
    },
    lastInput() {
      const last = logged.filter((day) => day <= today).at(-1) ?? today;
      const spans = logged.length === 0 ? [] : (read(last).parts?.spans ?? []);
      return Math.max(0, ...spans.map(({ input, to }) => input ?? to)) || null;
    },
  };
}

function detailsOf(session: Session): ReturnType<Disclosure['about']> {
  const { slug, givenName, title, task, github_issue: issue } = session;
  const shown = givenName ?? title ?? task ?? undefined;
  return { slug, ...(shown === undefined ? {} : { title: shown }), ...(issue === null ? {} : { issue }) };
}

function sessionsOf(sessions: readonly Session[], day: Day, zone: string): Session[] {
  const { startMs, endMs } = dayBounds(day, zone);
  return sessions.filter(
    ({ startedAt, updatedAt }) => Date.parse(startedAt) < endMs && Date.parse(updatedAt) >= startMs,
  );
}
