import { marksOf } from '../platform/files/stat';
import { PROGRAM_EVENTS, type EventFields, type ProgramEvent } from './programs';

type Found = readonly EventFields[] | undefined;

/** What an event is read from: its occurrences are new entries. `read` is called if one of the files changed. */
export type EventSources = Readonly<
  Record<ProgramEvent, { files?: readonly string[]; read: () => Found | Promise<Found> }>
>;

const MAX_KNOWN = 5000;

/** Returns a function that emits the events since its last call. The first call for an event only remembers. */
export function eventWatch(sources: EventSources, emit: (event: ProgramEvent, fields: EventFields) => void) {
  const known = new Map<ProgramEvent, { marks: string | undefined; ids: ReadonlySet<string> }>();
  return async (isWanted: (event: ProgramEvent) => boolean): Promise<void> => {
    const wanted = PROGRAM_EVENTS.filter(isWanted);
    for (const event of known.keys()) if (!wanted.includes(event)) known.delete(event);
    for (const event of wanted) {
      const before = known.get(event);
      const { files, read } = sources[event];
      const marks = files && marksOf(files).text;
      if (marks !== undefined && marks === before?.marks) continue;
      const found = await read();
      if (found === undefined) continue;
      const ids = [...(before?.ids ?? []), ...found.map(idOf)].slice(-MAX_KNOWN);
      known.set(event, { marks, ids: new Set(ids) });
      for (const fields of found)
        if (before !== undefined && !before.ids.has(idOf(fields))) emit(event, fields);
    }
  };
}

/** Identifies an occurrence. Its other fields may change. */
function idOf({ session, id, number, day, startedAt, since, closedAt }: EventFields): string {
  return [session ?? id ?? number ?? day, startedAt ?? since ?? closedAt].join(' ');
}
