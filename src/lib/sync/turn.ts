import { dirname, join } from 'node:path';

import type { Machine } from '../config/user-area';
import { type Finding, off, ok } from '../platform/check';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureSubfolder, exists } from '../platform/files/folder';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { readObject, writeObject } from '../platform/files/object-file';
import { isText, oneOf, shape, where, type ShapeOf } from '../platform/files/shape';
import { kindOf } from '../platform/files/stat';
import { isIso, parseIso, toIso, type Clock } from '../platform/time/clock';
import { ago } from '../sessions/view';
import { machinesFolder, readMachines } from './exchange';
import { hashedKey, type ExchangeMachine } from './format';

/**
 * Decides which machine sends a notification that every machine knows about, such as a reminder. A machine
 * writes a claim to `told.jsonl`, then waits for other claims. The lowest machine id wins.
 */
export interface TurnDeps {
  clock: Clock;
  folder: string;
  machineId: string;
  /** Machine-local file with the times when updates from other machines arrived. */
  news: string;
}

/** Returns undefined without an exchange folder. Creates none, because its drive may not be mounted. */
export function turnDeps(machine: Machine, folder: string | undefined): TurnDeps | undefined {
  if (folder === undefined || kindOf(machinesFolder(folder)) !== 'folder') return undefined;
  const { clock, machineId, area } = machine;
  return { clock, folder, machineId, news: join(area.machine, 'machines-news.json') };
}

/** A machine is active if an update from it arrived within this time. */
const NEWS_MS = 10 * 60_000;
/** How long to wait for other machines' claims. Syncing usually takes less time. */
const CLAIM_MS = 90_000;
/** How long before the due time a machine claims a notification. */
const AHEAD_MS = 2 * 60_000;
/** You are at another machine if you used it within this time. */
const USED_MS = 10 * 60_000;
const KEEP_MS = 7 * 24 * 60 * 60_000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * `now`: send the notification. `done`: already sent by another machine. `later`: not due yet, or another
 * machine's turn.
 */
export type MachineTurn = 'now' | 'done' | 'later';

/** A notification that every machine knows about. */
interface DueItem {
  key: string;
  dueMs: number;
}

const TOLD = { key: isText, at: where(isText, isIso), what: oneOf(['claimed', 'told']) };
type Told = ShapeOf<typeof TOLD>;

/**
 * Returns what to do with each notification, and claims notifications that are due soon. Call this about once
 * a minute.
 */
export function takeTurns(deps: TurnDeps, items: readonly DueItem[]): Map<string, MachineTurn> {
  const nowMs = deps.clock.now();
  const machines = readMachines(deps.folder);
  const active = activeOf(deps, machines);
  const own = machines.filter(({ id }) => id === deps.machineId);
  const isFreshest = [...active, ...own].sort(byInput)[0]?.id === deps.machineId;
  const mine = readTold(deps, deps.machineId);
  const theirs = machines
    .filter(({ id }) => id !== deps.machineId)
    .map(({ id }) => ({ id, told: readTold(deps, id) }));
  const isActive = new Set(active.map(({ id }) => id));
  const waitMs = NEWS_MS * (1 + active.filter(({ id }) => id < deps.machineId).length);
  const claims: string[] = [];
  const turns = new Map<string, MachineTurn>();
  for (const { key, dueMs } of items) {
    const hash = hashedKey(key);
    const of = (told: readonly Told[], what: Told['what']): Told | undefined =>
      told.find((line) => line.key === hash && line.what === what);
    const claim = of(mine, 'claimed');
    const isTold = theirs.some(({ told }) => of(told, 'told') !== undefined);
    const claimants = theirs.filter(({ id, told }) => isActive.has(id) && of(told, 'claimed') !== undefined);
    const isOverdue = nowMs - dueMs >= waitMs;
    let turn: MachineTurn = 'later';
    if (isTold) turn = 'done';
    // This machine may have crashed while sending the notification, so send the notification again.
    else if (of(mine, 'told') !== undefined) turn = 'now';
    else if (active.length === 0) turn = dueMs <= nowMs ? 'now' : 'later';
    else if (claim === undefined) {
      const isFirst = claimants.length === 0 && isFreshest;
      if (dueMs - nowMs <= AHEAD_MS && (isFirst || isOverdue)) claims.push(hash);
    } else {
      const hasWaited = Math.abs(nowMs - (parseIso(claim.at) ?? 0)) >= CLAIM_MS;
      const isWinner = isOverdue || claimants.every(({ id }) => deps.machineId < id);
      if (hasWaited && isWinner && dueMs <= nowMs) turn = 'now';
    }
    turns.set(key, turn);
  }
  note(deps, claims, 'claimed');
  return turns;
}

/** Returns functions that decide which machine notifies you. */
export function turnsOf(deps: TurnDeps | undefined) {
  return (
    deps && {
      turns: (due: readonly DueItem[]) => takeTurns(deps, due),
      noteTold: (keys: readonly string[]) => noteTold(deps, keys),
    }
  );
}

/** Records that this machine is about to send these notifications. */
export function noteTold(deps: TurnDeps, keys: readonly string[]): void {
  note(deps, keys.map(hashedKey), 'told');
}

function note(deps: TurnDeps, keys: readonly string[], what: Told['what']): void {
  // Without the exchange folder, no other machine could read the note.
  if (keys.length === 0 || !exists(machinesFolder(deps.folder))) return;
  const nowMs = deps.clock.now();
  const recent = readTold(deps, deps.machineId).filter(
    ({ at }) => Math.abs(nowMs - (parseIso(at) ?? 0)) < KEEP_MS,
  );
  const lines = [...recent, ...keys.map((key): Told => ({ key, at: toIso(nowMs), what }))];
  const path = toldFile(deps, deps.machineId);
  ensureSubfolder(dirname(path));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  replaceFile(path, text, { sync: what === 'told' });
}

function toldFile({ folder }: TurnDeps, id: string): string {
  return join(machinesFolder(folder), id, 'told.jsonl');
}

function readTold(deps: TurnDeps, id: string): Told[] {
  const text = readText(toldFile(deps, id), { maxBytes: MAX_BYTES }) ?? '';
  return text.split('\n').map(parseObject).filter(shape(TOLD));
}

/** Returns whether you used another machine recently. */
export function isAtOther(deps: TurnDeps | undefined): boolean {
  if (deps === undefined) return false;
  const active = activeOf(deps, readMachines(deps.folder));
  return active.some(({ info }) => deps.clock.now() - Date.parse(info.lastInput ?? '') < USED_MS);
}

/** Returns how old the news of each other machine is. */
export function machinesFinding(deps: TurnDeps | undefined): Finding {
  if (deps === undefined) return off('no exchange folder', { fix: 'steward sync setup FOLDER' });
  const others = readMachines(deps.folder).filter(({ id }) => id !== deps.machineId);
  const news = others.map(({ info }) => `${info.name}: news ${ago(info.publishedAt, deps.clock.now())} old`);
  return ok(news.join(' · ') || 'none yet');
}

/**
 * Returns the other machines that sent an update recently. Uses arrival times, because the machines' clocks
 * may differ.
 */
function activeOf(deps: TurnDeps, machines: readonly ExchangeMachine[]): ExchangeMachine[] {
  const nowMs = deps.clock.now();
  const known = readObject(deps.news, MAX_BYTES) ?? {};
  const news: Record<string, { publishedAt: string; seen: number }> = {};
  const candidates = machines.filter(({ id, info }) => id !== deps.machineId && info.left === undefined);
  for (const { id, info } of candidates) {
    const before = known[id];
    const isOld = isObject(before) && textOf(before['publishedAt']) === info.publishedAt;
    // If no arrival time is stored, use the time of the machine's last publication instead.
    const isRecent = Math.abs(nowMs - (parseIso(info.publishedAt) ?? 0)) < 3 * NEWS_MS;
    const seen = isOld ? Number(before['seen']) : isObject(before) || isRecent ? nowMs : 0;
    news[id] = { publishedAt: info.publishedAt, seen: Number.isFinite(seen) ? seen : 0 };
  }
  if (JSON.stringify(news) !== JSON.stringify(known)) {
    writeObject(deps.news, news, { sync: false });
  }
  return candidates.filter(({ id }) => Math.abs(nowMs - (news[id]?.seen ?? 0)) < NEWS_MS);
}

/**
 * Sorts machines by their last input, most recent first. Uses only published times, so that every machine
 * gets the same order.
 */
function byInput(a: ExchangeMachine, b: ExchangeMachine): number {
  const [inputA, inputB] = [a, b].map(({ info }) => parseIso(info.lastInput ?? '') ?? 0) as [number, number];
  return inputB - inputA || (a.id < b.id ? -1 : 1);
}
