import { join } from 'node:path';

import { crypto } from '../platform/crypto';
import type { Machine } from '../config/user-area';
import { StewardError } from '../errors';
import { createFile, readText } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { appendLog } from '../platform/files/journal';
import { isObject } from '../platform/files/json-object';
import { type Holder, holderOf, isGone, processStart, withMachineLock } from '../platform/files/lock';
import { readObject, writeObject } from '../platform/files/object-file';
import { randomName } from '../platform/files/short-hash';
import { ownProcess } from '../platform/process/own-process';
import { toIso } from '../platform/time/clock';

/** Something that an agent asks, and that you can answer from elsewhere. Times are ISO 8601 in UTC. */
export interface Ask {
  id: string;
  /** `ask` is a call of the MCP tool `ask_me`; the others are an assistant's own requests. */
  kind: 'ask' | 'question' | 'plan' | 'permission';
  /** The session's key and slug; null for `ask`. */
  session: string | null;
  slug: string | null;
  tool: string;
  /** The question, or the tool's whole input as JSON. An answer is valid only for this text. */
  input: string;
  questions: readonly Question[];
  /** Whether the tool may run: otherwise you can only refuse. */
  canAllow: boolean;
  /** Whether you can allow the tool for the rest of the session. */
  canAllowSession: boolean;
  at: string;
  until: string;
  /** The process that waits for the answer; absent for `ask`, which a later call continues. */
  holder?: Holder;
}

export interface Question {
  text: string;
  options: readonly string[];
  /** Whether several options may be chosen. */
  many?: boolean;
}

/** What you see of an ask. Control characters in its texts are written out. */
export interface ShownAsk extends Pick<
  Ask,
  'id' | 'kind' | 'tool' | 'questions' | 'canAllow' | 'canAllowSession' | 'until'
> {
  /** The tool's whole input; null for a question. */
  input: string | null;
}

export interface AskDecision {
  behavior: 'allow' | 'deny';
  /** The answer to each question, or what to tell the agent. */
  texts: readonly string[];
  forSession: boolean;
}

interface Answer extends AskDecision {
  from: string;
  mac: string;
}

interface StoredAsk extends Ask {
  /** Proves that this machine opened the ask as it is: one that was changed is neither shown nor answered. */
  seal: string;
  answer?: Answer;
}

const MAX_ASKS = 200;
/** An answer to a question of `ask_me` can be read for this long after the question has expired. */
const KEEP_MS = 3_600_000;
const LOG_ROTATE_BYTES = 1024 * 1024;
/** A holder on another machine or in another container counts as gone when the ask expires. */
const HOLDER = { staleAfterMs: Infinity, processStart };

type NewAsk = Partial<Omit<Ask, 'id' | 'at' | 'until'>> &
  Pick<Ask, 'kind' | 'tool' | 'input'> & { isHeld: boolean; untilMs: number };

/** Stores an ask, and returns it with its id. */
export async function openAsk(machine: Machine, { isHeld, untilMs, ...about }: NewAsk): Promise<Ask> {
  const nowMs = machine.clock.now();
  const opened: Ask = {
    session: null,
    slug: null,
    questions: [],
    canAllow: false,
    canAllowSession: false,
    ...about,
    id: `q-${randomName(12)}`,
    at: toIso(nowMs),
    until: toIso(untilMs),
    ...(isHeld ? { holder: holderOf(ownProcess().pid, machine.machineId, nowMs, randomName(16)) } : {}),
  };
  await changed(machine, (asks) => {
    if (asks.length >= MAX_ASKS)
      throw new StewardError('unavailable', `${MAX_ASKS} questions wait for an answer.`, {
        hint: 'Answer some of them: steward inbox',
      });
    asks.push({ ...opened, seal: sealOf(keyOf(machine.area.machine), opened) });
  });
  return opened;
}

/** Returns the asks without an answer, oldest first. */
export function waitingAsks(machine: Machine): Ask[] {
  return read(machine).filter((ask) => ask.answer === undefined && isOpen(machine, ask));
}

/** Stores your answer and logs it. Throws `conflict` if the ask has another answer or has ended. */
export async function answerAsk(
  machine: Machine,
  id: string,
  decide: (ask: Ask) => AskDecision,
  from: string,
): Promise<Ask> {
  return changed(machine, (asks) => {
    const ask = asks.find((one) => one.id === id);
    if (ask?.answer !== undefined) throw ended(`It was already answered from ${ask.answer.from}.`);
    if (ask === undefined || !isOpen(machine, ask)) throw ended('It no longer waits for an answer.');
    const decision = decide(ask);
    // Logged first: a decision that takes effect is always in the log.
    logLine(machine, ask, decision.forSession ? 'allow for this session' : decision.behavior, from);
    ask.answer = { ...decision, from, mac: macOf(keyOf(machine.area.machine), ask.seal, decision) };
    return ask;
  });
}

/** Returns the answer to an ask, if there is one. */
export function answerTo(machine: Machine, { id }: Ask): AskDecision | undefined {
  const answer = read(machine).find((ask) => ask.id === id)?.answer;
  return answer && { behavior: answer.behavior, texts: answer.texts, forSession: answer.forSession };
}

/** Removes an ask, and returns its answer if it has a valid one. Only one caller gets it. */
export async function takeAnswer(machine: Machine, ask: Ask): Promise<AskDecision | undefined> {
  return changed(machine, (asks) => {
    const decision = answerTo(machine, ask);
    const at = asks.findIndex(({ id }) => id === ask.id);
    if (at === -1) return undefined;
    asks.splice(at, 1);
    return decision;
  });
}

/** Returns a question of `ask_me`, and keeps it open until a later time. Throws `not_found` if it has ended. */
export async function renewAsk(machine: Machine, id: string, untilMs: number): Promise<Ask> {
  return changed(machine, (asks) => {
    const ask = asks.find((one) => one.id === id && one.kind === 'ask');
    if (ask === undefined)
      throw new StewardError('not_found', `No question has the id "${id}".`, { hint: 'Ask it again.' });
    // The time is part of what an answer is bound to, so an answered question keeps it.
    if (ask.answer === undefined) ask.until = toIso(untilMs);
    ask.seal = sealOf(keyOf(machine.area.machine), ask);
    return ask;
  });
}

function isOpen(machine: Machine, ask: Ask): boolean {
  return Date.parse(ask.until) > machine.clock.now() && isAsking(machine, ask);
}

/** Returns whether the process that waits for the answer still runs. */
function isAsking({ clock, machineId }: Machine, { holder }: Ask): boolean {
  const nowMs = clock.now();
  return holder === undefined || !isGone(holder, { ...HOLDER, machineId, nowMs });
}

export function ended(why: string): StewardError {
  return new StewardError('conflict', why, { hint: 'See the rest: steward inbox' });
}

/** Returns the asks as they were opened. Ignores every other one, and answers that were not given for them. */
function read({ area }: Pick<Machine, 'area'>): StoredAsk[] {
  const stored = readObject(area.asks)?.['asks'];
  if (!Array.isArray(stored) || stored.length === 0) return [];
  const key = keyOf(area.machine);
  const asks = (stored as unknown[]).filter(isObject).map((ask) => ask as unknown as StoredAsk);
  return asks
    .filter((ask) => isSame(ask.seal, sealOf(key, ask)))
    .map(({ answer, ...ask }) => {
      const isGiven = isObject(answer) && isSame(answer.mac, macOf(key, ask.seal, answer));
      return isGiven ? { ...ask, answer } : ask;
    });
}

function isSame(given: unknown, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => Buffer.from(String(text)));
  return one?.length === other?.length && crypto().timingSafeEqual(one as Buffer, other as Buffer);
}

async function changed<T>(machine: Machine, change: (asks: StoredAsk[]) => T): Promise<T> {
  return withMachineLock(machine, 'asks', 5_000, () => {
    const oldest = machine.clock.now() - KEEP_MS;
    const asks = read(machine).filter((ask) => Date.parse(ask.until) > oldest && isAsking(machine, ask));
    const result = change(asks);
    writeObject(machine.area.asks, { version: 1, asks });
    return result;
  });
}

/** Binds an ask to everything that you see of it, and to the hash of its whole input. */
function sealOf(key: string, ask: Ask): string {
  const { id, kind, session, slug, tool, input, questions, canAllow, canAllowSession, at, until } = ask;
  const hash = crypto().createHash('sha256').update(String(input)).digest('hex');
  return hmac(key, [id, kind, session, slug, tool, hash, questions, canAllow, canAllowSession, at, until]);
}

/** Binds a decision to the ask for which it was given. */
function macOf(key: string, seal: string, { behavior, texts, forSession }: AskDecision): string {
  return hmac(key, [seal, behavior, texts, forSession]);
}

function hmac(key: string, bound: readonly unknown[]): string {
  return crypto().createHmac('sha256', key).update(JSON.stringify(bound)).digest('base64url');
}

/** Returns this machine's key, which is not in the user area: a synced folder can't forge an answer. */
function keyOf(folder: string): string {
  const path = join(folder, 'answers.key');
  const stored = (): string | undefined => readText(path, { maxBytes: 1024 });
  const key = stored();
  if (key !== undefined) return key;
  ensureFolder(folder);
  createFile(path, crypto().randomBytes(32).toString('base64url'));
  return stored() ?? keyOf(folder);
}

/** Logs who decided what, and after how long, or why steward abstained. Never logs the input or your text. */
export function logLine({ area, clock }: Machine, { tool, at }: Ask, decision: string, from: string): void {
  const nowMs = clock.now();
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(at)) / 1000));
  ensureFolder(area.observability);
  const line = JSON.stringify({ ts: toIso(nowMs), tool, decision, from, seconds });
  appendLog(area.answersLog, line, { rotateBytes: LOG_ROTATE_BYTES, nowMs });
}
