import { basename, join } from 'node:path';

import { forShell } from '../platform/process/spawn';
import { errnoCode, StewardError, throwIfBug } from '../errors';
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
import { readTable } from '../usage/prices';
import { readLedger } from '../work/ensure';
import type { UserArea } from '../config/user-area';
import type { CheckedHost } from '../platform/check';
import { failed, failure, off, ok, warning, type Check, type Finding } from '../platform/check';
import { nearestFolder, tryWriting } from './machine';

export interface AreaChecked extends Pick<CheckedHost, 'clock'> {
  area: UserArea;
  /** Finds problems in a user area that several machines write to. */
  sharedArea: () => { found: string; hint?: string; fix?: string }[];
}

export const AREA_CHECKS: readonly Check<AreaChecked>[] = [
  { id: 'area.folder', title: 'the user area', needsConfig: false, run: checkFolder },
  { id: 'area.formats', title: 'the stored state', needsConfig: false, run: checkFormats },
  { id: 'area.logs', title: 'the logs', needsConfig: false, run: checkLogs },
];

const EMPTY = 'nothing is stored yet';
const MAX_STATE_BYTES = 64 * 1024 * 1024;

function checkFolder({ area, sharedArea }: AreaChecked): Finding[] {
  if (!exists(area.root)) {
    const nowhere = unwritable(nearestFolder(area.root));
    return nowhere.length > 0 ? nowhere : [off(`${area.root} does not exist yet`, { fix: 'steward up' })];
  }
  if (modeOf(area.root) === undefined) {
    return [failed(`${area.root} is a broken link`, { hint: 'Point the link to an existing folder.' })];
  }
  if (kindOf(area.root) !== 'folder') {
    const hint = 'Move or rename the file, or set STEWARD_HOME to another folder.';
    return [failed(`${area.root} is not a folder, so nothing can be stored`, { hint })];
  }
  const fix = `chmod 700 ${forShell(area.root)}`;
  const written = [area.root, area.state, area.sense.root, area.machine];
  const findings = [
    ...(isOpenToOthers(area.root)
      ? [warning(`other users of this machine can read ${area.root}`, { fix })]
      : []),
    ...[area.state, area.sense.root, area.work.root, area.observability, area.outbox, area.spool].flatMap(
      notReal,
    ),
    ...shared(sharedArea),
    ...written.filter((folder) => lstatOf(folder)?.isFolder === true).flatMap(unwritable),
  ];
  return findings.length > 0 ? findings : [ok(`${area.root} is private and writable`)];
}

function notReal(folder: string): Finding[] {
  const facts = lstatOf(folder);
  if (facts === undefined || (facts.isFolder && !facts.isLink)) return [];
  const what = facts.isLink ? 'a symbolic link' : 'not a folder';
  const hint = 'Replace it with a folder, or link the whole user area instead.';
  return [failed(`${folder} is ${what}, so steward does not write to it`, { hint })];
}

function shared(sharedArea: AreaChecked['sharedArea']): Finding[] {
  try {
    return sharedArea().map(({ found, ...more }) => warning(found, more));
  } catch (error) {
    const found = failure(throwIfBug(error));
    return [
      {
        ...found,
        state: 'warning',
        found: `cannot tell which machines write to the user area: ${found.found}`,
      },
    ];
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
      return [failed(`the disk that contains ${folder} is full`, { hint: 'Free some space.' })];
    }
    const fix = code === 'EACCES' ? { fix: `chmod u+rwx ${forShell(folder)}` } : {};
    const hint = 'Make your user the owner.';
    return [failed(`${folder} is not writable (${code})`, { hint, ...fix })];
  }
}

function checkFormats({ area }: Pick<AreaChecked, 'area'>): Finding[] {
  if (!exists(area.root)) return [off(EMPTY)];
  const readers: (() => Finding[])[] = [
    () => senseFindings(area),
    () => sessionFindings(area.sessionsState),
    () => damagedFindings(area.asks, 'asks', 'the assistants ask in their own windows'),
    () => damagedFindings(area.inbox, 'marks', 'what you snoozed or removed is listed again'),
    () => priceFindings(join(area.machine, 'usage')),
    () => readInstallManifest(area.installManifest, '') && [],
    () => readLedger(area.work.ledger, '') && [],
  ];
  const findings = readers.flatMap((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      // Don't use the kind `config`, because its exit code means that the configuration is invalid.
      return [failure(error, { kind: 'unavailable' })];
    }
  });
  return findings.length > 0 ? findings : [ok('valid and in the current format')];
}

function senseFindings(area: UserArea): Finding[] {
  const { damaged, lost } = senseStore(area).readState();
  if (!damaged && !lost) return [];
  const found = `${area.sense.state} is ${damaged ? 'damaged' : 'missing'}; a capture rebuilds it from the stored events`;
  return [warning(found, { fix: 'steward sense capture' })];
}

function sessionFindings(path: string): Finding[] {
  const aside = `${path}.broken`;
  const earlier = exists(aside)
    ? [
        warning(`the damaged session state was moved to ${aside} and rebuilt from the log`, {
          fix: `rm ${forShell(aside)}`,
        }),
      ]
    : [];
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  if (text === undefined) return earlier;
  const state = parseObject(text);
  if (state === undefined || typeof state['version'] !== 'number' || !isObject(state['sessions'])) {
    return [...earlier, warning(`${path} is damaged; the next session rebuilds it from the log`)];
  }
  if (state['version'] <= SESSIONS_VERSION) return earlier;
  return [
    ...earlier,
    failed(`${path} was written by a newer steward (format ${state['version']})`, {
      hint: 'Update steward on this machine. This version does not change the file.',
    }),
  ];
}

/** Reports a file that steward replaces when it writes it next, and what follows until then. */
function damagedFindings(path: string, key: string, then: string): Finding[] {
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  const isValid = text === undefined || typeof parseObject(text)?.[key] === 'object';
  return isValid ? [] : [warning(`${path} is damaged; ${then}`, { fix: `rm ${forShell(path)}` })];
}

function priceFindings(state: string): Finding[] {
  const fix = 'steward usage prices update --shipped --yes';
  return readTable(state).problems.map((found) => warning(`the price table is ${found}`, { fix }));
}

const RECENT_DAYS = 7;

function checkLogs({ area, clock }: Pick<AreaChecked, 'area' | 'clock'>): Finding[] {
  if (!exists(area.root)) return [off(EMPTY)];
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
      warning(`the record ${join(area.sense.daily, `${day}.json`)} is damaged and is not shown`, {
        hint: 'Move or rename the file. If the event log for that day still exists, rebuild the record:',
        fix: `steward sense rollup ${day}`,
      }),
    ),
    ...[
      ...quarantined.map((path) => `${path} has ${plural(linesOf(path).count, 'quarantined line')}`),
      ...bad.map(({ path, bad: lines }) => `${path} has ${plural(lines, 'unreadable line')}`),
    ].map((found) => warning(found, { hint: 'These lines are ignored. Find out what wrote them.' })),
  ];
  const tail =
    torn.length === 0 ? '' : `; the last line of ${torn.join(', ')} is incomplete, which is harmless`;
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
