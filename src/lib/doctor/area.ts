import { basename, join } from 'node:path';

import { forShell } from '../platform/process/spawn';
import { errnoCode, StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { exists, isOpenToOthers, listFolder, lstatOf, modeOf } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { readInstallManifest } from '../platform/files/install-manifest';
import { readLines } from '../platform/files/jsonl';
import { plural } from '../platform/terminal/format';
import { kindOf } from '../platform/files/stat';
import { addDays, dayOf, systemZone } from '../platform/time/time';
import { senseStore } from '../sense/store';
import { SESSIONS_VERSION } from '../sessions/session';
import { readLedger } from '../work/ensure';
import type { UserArea } from '../config/user-area';
import type { Clock } from '../platform/time/clock';
import { failed, failure, off, ok, warning, type Check, type Finding } from '../platform/check';
import { nearestFolder, tryWriting } from './machine';

/** What the checks of the area are given. */
export interface AreaChecked {
  clock: Clock;
  area: UserArea;
  config: object;
  /** Why the area is not one machine's, if so. */
  sharedArea: () => string | undefined;
}

export const AREA_CHECKS: readonly Check<AreaChecked>[] = [
  { id: 'area.folder', title: 'the user area', needsConfig: false, run: checkFolder },
  { id: 'area.formats', title: 'the stored states', needsConfig: false, run: checkFormats },
  { id: 'area.logs', title: 'the logs', needsConfig: false, run: checkLogs },
];

const NOT_THERE = 'nothing is stored yet';

function checkFolder({ area, sharedArea }: Omit<AreaChecked, 'config'>): Finding[] {
  if (!exists(area.root)) {
    const nowhere = unwritable(nearestFolder(area.root));
    return nowhere.length > 0
      ? nowhere
      : [off(`${area.root} is not there: ${NOT_THERE}`, { mend: 'steward up' })];
  }
  if (modeOf(area.root) === undefined) {
    return [
      failed(`${area.root} is a link that leads nowhere`, { hint: 'Link it to a folder that is there.' }),
    ];
  }
  if (kindOf(area.root) !== 'folder') {
    const hint = 'Move it away, or point STEWARD_HOME elsewhere.';
    return [failed(`${area.root} is no folder, so nothing can be stored`, { hint })];
  }
  const mend = `chmod 700 ${forShell(area.root)}`;
  const written = [area.root, area.state, area.sense.root, area.machine];
  const findings = [
    ...(isOpenToOthers(area.root)
      ? [warning(`other users of this machine can look into ${area.root}`, { mend })]
      : []),
    ...[area.state, area.sense.root, area.work.root, area.observability, area.outbox, area.spool].flatMap(
      notReal,
    ),
    ...shared(sharedArea),
    ...written.filter((folder) => lstatOf(folder)?.isFolder === true).flatMap(unwritable),
  ];
  return findings.length > 0 ? findings : [ok(`${area.root}, yours alone and writable`)];
}

function notReal(folder: string): Finding[] {
  const facts = lstatOf(folder);
  if (facts === undefined || (facts.isFolder && !facts.isLink)) return [];
  const what = facts.isLink ? 'a symbolic link' : 'not a folder';
  const hint = 'Move a real folder to its place, or link the whole user area.';
  return [failed(`${folder} is ${what}, so nothing is written there`, { hint })];
}

function shared(sharedArea: AreaChecked['sharedArea']): Finding[] {
  try {
    const found = sharedArea();
    const hint =
      'Stop syncing it, or run steward on one machine only. Then look at the copies and remove them.';
    return found === undefined ? [] : [warning(found, { hint })];
  } catch (error) {
    const found = failure(error);
    if (found.kind === 'internal') throw error;
    return [{ ...found, state: 'warning', found: `which machines write it is unknown: ${found.found}` }];
  }
}

function unwritable(folder: string): Finding[] {
  try {
    tryWriting(folder);
    return [];
  } catch (error) {
    const code = errnoCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      return [failed(`nothing fits into ${folder} any more`, { hint: 'Make room on its disk.' })];
    }
    const mend = code === 'EACCES' ? { mend: `chmod u+rwx ${forShell(folder)}` } : {};
    return [failed(`${folder} cannot be written (${code})`, { hint: 'Give it back to your user.', ...mend })];
  }
}

/** Each state is read as its owner reads it: a newer format is left alone, a broken one is made anew. */
function checkFormats({ area }: Pick<AreaChecked, 'area'>): Finding[] {
  if (!exists(area.root)) return [off(NOT_THERE)];
  const readers: (() => Finding[])[] = [
    () => senseFindings(area),
    () => sessionFindings(area.sessionsState),
    () => {
      readInstallManifest(area.installManifest, '');
      return [];
    },
    () => {
      readLedger(area.work.ledger, '');
      return [];
    },
  ];
  const findings = readers.flatMap((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      // Not the configuration: the kind would end the run as if it were.
      return [failure(error, { kind: 'unavailable' })];
    }
  });
  return findings.length > 0 ? findings : [ok('of this version, and whole')];
}

function senseFindings(area: UserArea): Finding[] {
  const { damaged, lost } = senseStore(area).readState();
  if (damaged) {
    return [
      warning(`${area.sense.state} is damaged; a capture sets it aside and goes on from the stored events`, {
        mend: 'steward sense capture',
      }),
    ];
  }
  return lost
    ? [
        warning(`${area.sense.state} is gone; a capture makes it anew from the stored events`, {
          mend: 'steward sense capture',
        }),
      ]
    : [];
}

function sessionFindings(path: string): Finding[] {
  const aside = `${path}.broken`;
  const kept = exists(aside)
    ? [
        warning(
          `the sessions could not be read once, and are kept in ${aside}; they were made anew from their log`,
          {
            mend: `rm ${forShell(aside)}`,
          },
        ),
      ]
    : [];
  const text = readText(path, { maxBytes: 64 * 1024 * 1024 });
  if (text === undefined) return kept;
  const state = parseObject(text);
  if (state === undefined || typeof state['version'] !== 'number' || !isObject(state['sessions'])) {
    return [...kept, warning(`${path} is damaged; the next session makes it anew from the log`)];
  }
  if (state['version'] <= SESSIONS_VERSION) return kept;
  return [
    ...kept,
    failed(`${path} was written by a newer steward (format ${state['version']})`, {
      hint: 'Use that version here, too; this one leaves the file alone.',
    }),
  ];
}

const RECENT_DAYS = 7;

function checkLogs({ area, clock }: Pick<AreaChecked, 'area' | 'clock'>): Finding[] {
  if (!exists(area.root)) return [off(NOT_THERE)];
  const since = addDays(dayOf(clock.now(), systemZone()), -RECENT_DAYS);
  const store = senseStore(area);
  const damaged = store.recordedDays().filter((day) => store.recordState(day) === 'damaged');
  const quarantined = store
    .quarantinedDays()
    .filter((day) => day >= since)
    .map((day) => join(area.sense.quarantine, `${day}.jsonl`));
  const logs = [
    area.workEvents,
    ...listFolder(area.observability)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(area.observability, name)),
  ];
  const read = logs.filter(exists).map((path) => ({ path, ...linesOf(path) }));
  const bad = read.filter((log) => log.bad > 0);
  const torn = read.filter((log) => log.torn).map(({ path }) => basename(path));
  const findings = [
    ...damaged.map((day) =>
      warning(`the record ${join(area.sense.daily, `${day}.json`)} is damaged and left out of every view`, {
        hint: 'Move it away. If the event log of that day still exists, rebuild it:',
        mend: `steward sense rollup ${day}`,
      }),
    ),
    ...quarantined.map((path) =>
      warning(`${plural(linesOf(path).count, 'line')} of that day could not be read as events: ${path}`, {
        hint: 'What stands there counts nowhere. Look at what wrote it.',
      }),
    ),
    ...bad.map(({ path, bad: lines }) =>
      warning(`${plural(lines, 'line')} of ${path} cannot be read`, {
        hint: 'What stands there counts nowhere. Look at what wrote it.',
      }),
    ),
  ];
  const tail =
    torn.length === 0 ? '' : `; the last line of ${torn.join(', ')} is cut, and is closed by the next one`;
  const all = read.reduce((sum, log) => sum + log.count, 0);
  return findings.length > 0 ? findings : [ok(`${plural(all, 'line')} read${tail}`)];
}

function linesOf(path: string): { count: number; bad: number; torn: boolean } {
  let count = 0;
  let bad = 0;
  const end = readLines(path, {}, ({ text }) => {
    count += 1;
    if (text === undefined || (text !== '' && parseObject(text) === undefined)) bad += 1;
  });
  return { count, bad, torn: (end?.torn ?? 0) > 0 };
}
