import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, ensureSubfolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { isMachineId } from '../platform/files/machine';
import type { SharedGroup, SharedValue } from '../platform/files/shared-group';
import { isText, listOf, nullable, optional, shape, where, type ShapeOf } from '../platform/files/shape';
import { byCodeUnits } from '../platform/files/short-hash';
import { cleanLine } from '../platform/terminal/terminal';
import { isIso, toIso } from '../platform/time/clock';
import { readFile, type OnDamagedFile } from './exchange';
import { FORMAT } from './format';
import { parseClean } from './parse';

/*
 * Each machine publishes all shared settings that it knows, one entry each, with the time of the last change. For
 * each entry the latest change wins. A change is always later than the one that it replaces, even if a clock is not.
 */

const isTime = where(isText, (text) => isIso(text) && toIso(Date.parse(text)) === text);
const isList = where(listOf(isText), (items) => items.length <= 50);
const CHANGE = { at: isTime, by: where(isText, isMachineId), value: nullable(isList) };
const isEntry = shape({
  ...CHANGE,
  /** The time of the change that this one replaced. */
  over: optional(isTime),
  /** A change of another machine that lost, because neither machine knew of the other's. */
  other: optional(shape(CHANGE)),
});

type Change = Omit<ShapeOf<typeof CHANGE>, 'value'> & { value: SharedValue };
export type SharedEntry = Change & { over?: string; other?: Change };
/** Entries by group and name, such as `goal/G1`. */
export type SharedEntries = Readonly<Record<string, SharedEntry>>;

export interface ShareDeps {
  nowMs: number;
  machineId: string;
  /** Machine-local file with the entries as this machine last knew them. */
  known: string;
  /** The other machines' files. */
  others: readonly string[];
  groups: Readonly<Record<string, SharedGroup>>;
  changedMs: (files: readonly string[]) => number;
}

const KEY = /^[a-z]+\/.{1,200}$/;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_ENTRIES = 2000;
const MAX_NAME = 200;
const MAX_TEXT = 500;
const DAY_MS = 86_400_000;
/** How far in the future a change may be. */
const AHEAD_MS = DAY_MS;
const LAST_TIME = '9999-12-31T23:59:59.999Z';
const KEEP_REMOVED_MS = 400 * DAY_MS;

/** Returns the time after which no change is trusted. */
export function latestAt(nowMs: number): string {
  return toIso(nowMs + AHEAD_MS);
}

export function readShared(
  path: string,
  latest: string,
  onDamaged: OnDamagedFile = () => undefined,
): SharedEntries {
  const stored = readFile(path, MAX_BYTES, onDamaged, (text) => {
    const entries = parseClean(text)?.['entries'];
    return isObject(entries) ? Object.entries(entries).slice(0, MAX_ENTRIES) : undefined;
  });
  const usable = (stored ?? []).filter(
    (item): item is [string, SharedEntry] => KEY.test(item[0]) && isEntry(item[1]) && item[1].at <= latest,
  );
  if (usable.length < (stored?.length ?? 0)) onDamaged(path, 'has invalid entries or entries of the future');
  return Object.fromEntries(usable);
}

/** The file with the shared settings, in a machine's folder of the exchange folder. */
export const SHARED_FILE = 'settings.json';
/** The machine-local file with the entries as this machine last knew them. */
export const KNOWN_FILE = 'shared-settings.json';

/** Returns all entries as the latest changes have them, and what to change on this machine, by group. */
export async function planShared(deps: ShareDeps) {
  const latest = latestAt(deps.nowMs);
  const theirs = deps.others.map((path) => readShared(path, latest));
  const known = Object.entries(knownEntries(deps, theirs));
  const own: Record<string, SharedEntry> = {};
  const local = new Map<string, LocalValues>();
  for (const [name, group] of Object.entries(deps.groups)) {
    const found = await localValues(name, group);
    local.set(name, found);
    const before = new Map(known.filter(([key]) => groupOf(key) === name && !found.hidden.has(key)));
    Object.assign(own, Object.fromEntries(before));
    if (found.isMissing) continue;
    const changedMs = Math.min(deps.changedMs(group.files), deps.nowMs);
    for (const key of new Set([...before.keys(), ...found.values.keys()])) {
      const [entry, value = null] = [before.get(key), found.values.get(key)];
      if (isSame(entry?.value ?? null, value)) continue;
      const at = toIso(Math.max(changedMs, entry === undefined ? 0 : Date.parse(entry.at) + 1));
      own[key] = { at, by: deps.machineId, value, ...(entry !== undefined && { over: entry.at }) };
    }
  }
  const isUsable = (key: string, value: SharedValue): boolean => {
    const group = deps.groups[groupOf(key)];
    if (group === undefined || local.get(groupOf(key))?.hidden.has(key) === true) return false;
    return (
      value === null || (group.isValid(nameOf(key), value) && group.isHidden?.(nameOf(key), value) !== true)
    );
  };
  const usable = theirs.map((entries) => usableIn(entries, isUsable));
  const entries = foldShared([own, ...usable], toIso(deps.nowMs - KEEP_REMOVED_MS));
  const changes = new Map<string, Map<string, SharedValue>>();
  for (const [key, { value }] of Object.entries(entries)) {
    if (isSame(local.get(groupOf(key))?.values.get(key) ?? null, value)) continue;
    const group = changes.get(groupOf(key)) ?? new Map<string, SharedValue>();
    changes.set(groupOf(key), group.set(nameOf(key), value));
  }
  return { entries, changes, text: `${JSON.stringify({ format: FORMAT, entries }, null, 1)}\n` };
}

type LocalValues = Awaited<ReturnType<typeof localValues>>;

/** Returns this machine's values of a group, and the entries that name restricted work. */
async function localValues(group: string, { read, isHidden = () => false }: SharedGroup) {
  const found = await read();
  const hidden = new Set<string>();
  const values = new Map<string, string[]>();
  for (const [name, value] of found ?? []) {
    if (cleanLine(name, MAX_NAME) !== name) continue;
    if (isHidden(name, value)) hidden.add(`${group}/${name}`);
    else values.set(`${group}/${name}`, cleaned(value));
  }
  return { isMissing: found === undefined, values, hidden };
}

/** Returns what this machine last knew. What it changed while its clock was ahead counts as changed now. */
function knownEntries({ known, nowMs }: ShareDeps, theirs: readonly SharedEntries[]): SharedEntries {
  const entries = Object.entries(readShared(known, LAST_TIME)).map(([key, entry]): [string, SharedEntry] => {
    if (entry.at <= latestAt(nowMs)) return [key, entry];
    const seen = theirs.flatMap((each) => (each[key] === undefined ? [] : [Date.parse(each[key].at) + 1]));
    return [key, { at: toIso(Math.max(nowMs, ...seen)), by: entry.by, value: entry.value }];
  });
  return Object.fromEntries(entries);
}

/** Takes over the other machines' changes, then notes and publishes the entries. Returns whether a file changed. */
export async function share(deps: ShareDeps, published: string): Promise<boolean> {
  const { changes, text } = await planShared(deps);
  for (const [group, values] of changes) await deps.groups[group]?.write(values);
  // First what this machine knows; a change that was published only would count as one of this machine.
  const stale = [deps.known, published].filter((path) => readText(path) !== text);
  for (const path of stale) {
    if (path === published) ensureSubfolder(dirname(path));
    else ensureFolder(dirname(path));
    replaceFile(path, text, { sync: false });
  }
  return stale.length > 0;
}

export function foldShared(all: readonly SharedEntries[], oldest: string): SharedEntries {
  const found = new Map<string, SharedEntry[]>();
  for (const [key, entry] of all.flatMap((entries) => Object.entries(entries)))
    found.set(key, [...(found.get(key) ?? []), entry]);
  const folded = [...found].map(([key, entries]) => [key, foldEntry(entries)] as const);
  return Object.fromEntries(
    folded
      .filter(([, { at, value }]) => value !== null || at >= oldest)
      .sort(([, a], [, b]) => byCodeUnits(b.at, a.at))
      .slice(0, MAX_ENTRIES)
      .sort(([a], [b]) => byCodeUnits(a, b)),
  );
}

function foldEntry(found: readonly SharedEntry[]): SharedEntry {
  const [first, ...rest] = [...found].sort(byRank);
  const winner = first as SharedEntry;
  const { at, by, value, over = '' } = winner;
  const noted = found.filter((entry) => entry.at === at).flatMap(({ other }) => other ?? []);
  const [lost] = [...rest, ...noted]
    .filter((change) => change.at > over && !isSame(change.value, value))
    .sort(byRank);
  return {
    ...{ at, by, value },
    ...(over !== '' && { over }),
    ...(lost !== undefined && { other: { at: lost.at, by: lost.by, value: lost.value } }),
  };
}

/** Sorts the latest change first. */
function byRank(a: Change, b: Change): number {
  const rankOf = ({ at, by, value }: Change): string => `${at} ${JSON.stringify(value)} ${by}`;
  return byCodeUnits(rankOf(b), rankOf(a));
}

function usableIn(entries: SharedEntries, isUsable: (key: string, value: SharedValue) => boolean) {
  const usable = Object.entries(entries).filter(([key, { value }]) => isUsable(key, value));
  return Object.fromEntries(
    usable.map(([key, { other, ...entry }]): [string, SharedEntry] => [
      key,
      { ...entry, ...(other !== undefined && isUsable(key, other.value) && { other }) },
    ]),
  );
}

export function groupOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

export function nameOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

function cleaned(value: readonly string[]): string[] {
  return value.slice(0, 50).map((text) => cleanLine(text, MAX_TEXT));
}

function isSame(a: SharedValue, b: SharedValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
