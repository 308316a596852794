import { join } from 'node:path';

import { shortHash } from '../platform/files/short-hash';
import { marksOf } from '../platform/files/stat';
import { dayBounds, dayOf, type Day } from '../platform/time/time';
import { SENSE_VERSION } from '../time/event';
import { senseStore } from '../sense/store';
import { namesFolder } from '../sessions/names';
import { sessionsById, type Session } from '../sessions/session';
import { archiveOf } from '../sessions/state';
import type { Disclosure, LocalDay } from '../sync/day';
import { FORMAT } from '../sync/format';
import type { LocalData } from '../sync/publish';
import { daysIn } from '../platform/files/day-files';
import { readDayRows } from '../usage/days';
import type { Context } from './context';
import { openStoredDays } from './machines';
import type { SenseContext } from './sense';
import { VERSION } from '../platform/version';

/** Returns a hash that changes whenever the data to publish may have changed. */
export function markOfAll({ area }: Context, input: object): string {
  const store = senseStore(area);
  const { text } = marksOf([
    ...[area.sense.classify, area.sense.events, area.sense.daily, area.usage],
    ...store.loggedDays().map((day) => store.logOf(day)),
    ...[area.sessionsState, area.workEvents, archiveOf(area.sessionsState), namesFolder(area.machine)],
  ]);
  return shortHash(JSON.stringify([text, input, VERSION, SENSE_VERSION, FORMAT]));
}

/** Returns functions that read this machine's data by day. */
export function localData(
  { area, clock }: Context,
  { deps }: SenseContext,
  sessions: readonly Session[],
  details: boolean,
): LocalData {
  const { store, timezone } = deps;
  const { recordedDays, readRecord, readLogged } = openStoredDays(deps, []);
  const today = dayOf(clock.now(), timezone);
  const { state } = store.readState();
  const known = sessionsById(sessions);
  const about: Disclosure['about'] = (id) => {
    const session = known.get(id);
    return session && detailsOf(session);
  };
  const logged = store.loggedDays();
  const zoneOf = (day: Day): string => state.zones[day] ?? timezone;
  const read = (day: Day): LocalDay => {
    const usage = readDayRows(area.usage, day);
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
    markOf: (day) =>
      shortHash(
        JSON.stringify([
          marksOf([
            store.logOf(day),
            join(area.sense.daily, `${day}.json`),
            join(area.usage, `${day}.json`),
            area.sense.classify,
          ]).text,
          ...[details, day < today, zoneOf(day), VERSION, SENSE_VERSION, FORMAT],
          sessionsOf(sessions, day, zoneOf(day)).map((session) => [
            session.sessionIds,
            details && detailsOf(session),
          ]),
        ]),
      ),
    lastInput() {
      const spans =
        logged.length === 0
          ? []
          : (read(logged.filter((day) => day <= today).at(-1) ?? today).parts?.spans ?? []);
      const last = Math.max(0, ...spans.map(({ input, to }) => input ?? to));
      return last === 0 ? null : last;
    },
  };
}

function detailsOf({
  slug,
  givenName,
  title,
  task,
  github_issue: issue,
}: Session): ReturnType<Disclosure['about']> {
  const shown = givenName ?? title ?? task ?? undefined;
  return { slug, ...(shown === undefined ? {} : { title: shown }), ...(issue === null ? {} : { issue }) };
}

function sessionsOf(sessions: readonly Session[], day: Day, zone: string): Session[] {
  const { startMs, endMs } = dayBounds(day, zone);
  return sessions.filter(
    ({ startedAt, updatedAt }) => Date.parse(startedAt) < endMs && Date.parse(updatedAt) >= startMs,
  );
}
