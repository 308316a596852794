import { basename, join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { readText } from '../platform/files/atomic-file';
import { readOwners } from '../platform/files/area-owner';
import { conflictCopies } from '../platform/files/conflict-copies';
import { exists, listFolder, lstatOf } from '../platform/files/folder';
import { formerMachineIds, knownMachineId } from '../platform/files/machine';
import { machineStatePath } from '../platform/files/paths';
import { forShell } from '../platform/process/spawn';
import { plural } from '../platform/terminal/format';
import type { Clock } from '../platform/time/clock';

const RECENT_MS = 7 * 24 * 3_600_000;

const MAX_TEXT = 1024 * 1024;
const EDITED = [
  ...['config.yaml', 'settings.json', 'goals/goals.md', 'projects.md', 'principal/pronunciations.json'],
  ...['sense/classify.yaml', 'sense/config.json', 'work/config.yaml', 'work/labels.yml'],
];

const MAX_LISTED = 5;
/** The folders of the user area that steward or the user writes to. */
const WRITTEN = ['sense', 'state', 'goals', 'observability', 'principal', 'agents', 'knowledge', 'work'];

function copiesFound({ root }: UserArea) {
  const machines = listFolder(join(root, 'machines')).map((id) => join('machines', id));
  const folders = ['', ...machines].flatMap((top) => WRITTEN.map((name) => join(top, name)));
  const copies = [
    ...conflictCopies(root, 0),
    ...folders.flatMap((folder) =>
      conflictCopies(join(root, folder), 1).map(({ path, original }) => ({
        path: join(folder, path),
        original: join(folder, original),
      })),
    ),
  ];
  const listed = copies.slice(0, MAX_LISTED).map(({ path, original }) => ({
    found: `a sync tool left a conflict copy of ${original}: ${join(root, path)}`,
    hint: `Copy any changes you need into ${basename(original)}, then delete the conflict copy:`,
    fix: `rm ${forShell(join(root, path))}`,
  }));
  const rest = copies.length - listed.length;
  return [
    ...listed,
    ...(rest > 0
      ? [{ found: `a sync tool left ${plural(rest, 'more conflict copy', 'more conflict copies')}` }]
      : []),
    ...markedFiles(root),
  ];
}

/** Returns a finding for each file with git conflict markers, among the files that users edit. */
function markedFiles(root: string) {
  if (!exists(join(root, '.git'))) return [];
  return EDITED.filter((name) =>
    /^<{7} /m.test(readText(join(root, name), { followLink: true })?.slice(0, MAX_TEXT) ?? ''),
  ).map((name) => ({
    found: `${join(root, name)} contains git conflict markers`,
    hint: "Edit the file, or keep this machine's version:",
    fix: `git -C ${forShell(root)} checkout HEAD -- ${name}`,
  }));
}

/** Finds problems in a user area that several machines share. Throws if a file can't be read. */
export function sharedArea({ area, clock }: { area: UserArea; clock: Clock }) {
  return [...othersIn(area, clock.now()), ...copiesFound(area)];
}

function othersIn(area: UserArea, nowMs: number) {
  const state = machineStatePath(area.host);
  const own = [knownMachineId(state), ...formerMachineIds(state)];
  const owners = readOwners(area.root);
  const isRecent = (place: string): boolean =>
    ['sense/state.json', 'state/work-events.jsonl', 'state/owner.json'].some(
      (name) => nowMs - (lstatOf(join(area.root, place, name))?.mtimeMs ?? 0) < RECENT_MS,
    );
  const writers = owners.filter(({ place }) => isRecent(place)).map(({ owner }) => owner);
  const machines = writers.filter((id) => !own.includes(id));
  const hint = 'Give each machine its own user area, and share their records through an exchange folder:';
  const fix = 'steward sync setup FOLDER';
  const top = owners.find(({ place }) => place === '')?.owner ?? '';
  if (area.place !== '')
    return [
      { found: `${area.root} belongs to the machine ${top}; this machine writes to ${area.own}`, hint, fix },
    ];
  if (machines.length === 0) return [];
  const others = `${plural(machines.length, 'other machine')} wrote to this folder in the last 7 days (${machines.slice(0, 3).join(', ')})`;
  return [{ found: `${area.root} is shared: ${others}`, hint, fix }];
}
