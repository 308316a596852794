import { lstatOf } from '../../platform/files/folder';
import { parseObject } from '../../platform/files/json-object';
import { readLines } from '../../platform/files/jsonl';
import { cleanLine } from '../../platform/terminal/terminal';
import { toIso } from '../../platform/time/clock';
import { asEvent } from './event';
import { sessionLogPath } from './session-log';
import { localSessions } from './sessions';
import { addEvent, newTurn, pendingTools } from './turn';

/** How much of the end of a log is read. */
const TAIL_BYTES = 256 * 1024;
const MAX_SESSIONS = 20;

/** Returns the hosted sessions that wait for an answer, by their logs on this machine. */
export function waitingHosted(folder: string): { id: string; why: string; since: string; go: string }[] {
  return localSessions(folder)
    .slice(0, MAX_SESSIONS)
    .flatMap((id) => {
      const path = sessionLogPath(folder, id);
      const { size = 0, mtimeMs = 0 } = lstatOf(path) ?? {};
      const turn = newTurn();
      readLines(path, { from: Math.max(0, size - TAIL_BYTES) }, ({ text }) => {
        const event = asEvent(parseObject(text ?? ''));
        if (event !== undefined) addEvent(turn, event);
      });
      const [tool] = pendingTools(turn);
      if (tool === undefined) return [];
      const why = `asks to run ${cleanLine(tool.name, 80) || 'a tool'}`;
      return { id, why, since: toIso(mtimeMs), go: `steward agents managed show ${id}` };
    });
}
