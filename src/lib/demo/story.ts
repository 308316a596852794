import { toIso } from '../platform/time/clock';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';
import { sessionKey, type AssistantId } from '../sessions/session-key';
import type { WorkEvent } from '../sessions/work-events';
import type { SenseEvent } from '../time/event';
import { random, type Random } from './random';
import { ASSISTANTS, REPOSITORIES } from './words';

/** A fortnight that happened on three machines. The same seed, time and time zone give the same story. */
export type Story = ReturnType<typeof tellStory>;

export interface StoryMachine {
  id: string;
  name: string;
  days: StoryDay[];
}

/** What a machine saw on one day, up to `endMs`. */
export interface StoryDay {
  day: Day;
  endMs: number;
  focus: SenseEvent[];
  commits: SenseEvent[];
  hooks: WorkEvent[];
  sessions: StorySession[];
}

export interface StorySession {
  key: string;
  assistant: AssistantId;
  model: string;
  repo: string;
  branch: string;
  title: string;
  fromMs: number;
  toMs: number;
  /** What the session is doing at the end of the story; `over` if it has ended. */
  ending: 'over' | 'working' | 'question' | 'permission_prompt' | 'ready';
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAYS = 14;
const DAY_OFF = 6;
const GAP_DAY = 10;
const GAP_MS = 150 * MINUTE;
const LUNCH_MS = 45 * MINUTE;
/** The days on which the other machines were used: in the evening, and a while ago today. */
const EVENINGS: readonly number[] = [1, 4, 8, 11, 12, DAYS - 1];

interface Teller {
  random: Random;
  machine: string;
  /** The folder that contains the repositories. */
  folder: string;
  out: StoryDay;
}

export function tellStory(options: { seed: number; nowMs: number; zone: string; folder: string }) {
  const { seed, nowMs, zone, folder } = options;
  const last = dayOf(nowMs, zone);
  const machines: StoryMachine[] = [
    { id: 'd0000000de5c', name: 'desk', days: [] },
    { id: 'd0000001a470', name: 'laptop', days: [] },
    { id: 'd00000057d10', name: 'studio', days: [] },
  ];
  const chances = machines.map((machine, i) => ({ machine, random: random(seed + i) }));
  for (let index = 0; index < DAYS; index += 1) {
    const day = addDays(last, index + 1 - DAYS);
    const { startMs, endMs } = dayBounds(day, zone);
    const isLast = index === DAYS - 1;
    const lastMs = isLast ? nowMs : endMs - MINUTE;
    const [own, ...others] = chances.map(({ machine: { id, days }, random: by }): Teller => {
      const out: StoryDay = { day, endMs: lastMs, focus: [], commits: [], hooks: [], sessions: [] };
      days.push(out);
      return { random: by, machine: id, folder, out };
    }) as [Teller, ...Teller[]];
    if (isLast) tellToday(own, Math.max(startMs, nowMs - 8 * HOUR), nowMs);
    else if (index !== DAY_OFF) tellWorkingDay(own, startMs, index);
    others.forEach((other, i) => {
      const fromMs = isLast ? Math.max(startMs, nowMs - (i + 2) * HOUR) : startMs + 20 * HOUR;
      if (EVENINGS.includes(index)) tellEvening(other, fromMs);
    });
  }
  for (const { days } of machines) {
    for (const { focus, commits, hooks } of days) {
      for (const events of [focus, commits, hooks]) events.sort((a, b) => (a.ts < b.ts ? -1 : 1));
    }
  }
  return { nowMs, machines };
}

function tellWorkingDay(teller: Teller, startMs: number, index: number): void {
  const { random: by } = teller;
  const fromMs = startMs + 8.4 * HOUR + by.upTo(50) * MINUTE;
  const noonMs = startMs + 12.2 * HOUR + by.upTo(20) * MINUTE;
  const endMs = startMs + 17 * HOUR + by.upTo(90) * MINUTE;
  tellWork(teller, fromMs, noonMs);
  if (isWeekend(noonMs)) return;
  tellAway(teller, noonMs, noonMs + LUNCH_MS);
  // Nothing was recorded during the gap.
  tellWork(teller, noonMs + LUNCH_MS + (index === GAP_DAY ? GAP_MS : 0), endMs);
}

/** 1 January 1970 was a Thursday. */
function isWeekend(ms: number): boolean {
  return (Math.floor(ms / (24 * HOUR) + 4) % 7) % 6 === 0;
}

/** Tells the day that isn't over, with the sessions that are still running. */
function tellToday(teller: Teller, fromMs: number, nowMs: number): void {
  const openMs = Math.max(fromMs, nowMs - 50 * MINUTE);
  const lunchMs = fromMs + (openMs - fromMs) * 0.5;
  const hasLunch = openMs - fromMs > 3 * HOUR;
  tellWork(teller, fromMs, hasLunch ? lunchMs : openMs);
  if (hasLunch) {
    tellAway(teller, lunchMs, lunchMs + LUNCH_MS);
    tellWork(teller, lunchMs + LUNCH_MS, openMs);
  }
  // Just after midnight, the running sessions started a moment ago.
  const scale = (nowMs - openMs) / (50 * MINUTE);
  const running = [
    { repo: 'website', ending: 'working', quietMin: 1 },
    { repo: 'payments', ending: 'question', quietMin: 6 },
    { repo: 'notes', ending: 'permission_prompt', quietMin: 3 },
    { repo: 'website', ending: 'ready', quietMin: 17 },
  ] as const;
  running.forEach(({ repo, ending, quietMin }, index) => {
    const { tasks, branches } = REPOSITORIES[repo] as (typeof REPOSITORIES)[string];
    const branch = branches[(index + 1) % branches.length] ?? 'main';
    const title = teller.random.next(tasks);
    const fromMs = Math.round(openMs + index * 4 * MINUTE * scale);
    const toMs = Math.round(nowMs - quietMin * MINUTE * scale);
    tellSession(teller, { repo, branch, title, ending, fromMs, toMs }, index);
  });
  const session = teller.out.sessions.at(-4);
  tellFocus(teller, openMs, nowMs, ['Ghostty', 'Code', 'Ghostty', 'Firefox'], session);
}

function tellEvening(teller: Teller, fromMs: number): void {
  const toMs = Math.min(teller.out.endMs, fromMs + (40 + teller.random.upTo(50)) * MINUTE);
  tellProject(teller, 'notes', fromMs, toMs, 0);
}

/** Fills a stretch of time with work on projects, reading, messages and meetings. */
function tellWork(teller: Teller, fromMs: number, untilMs: number): void {
  const { random: by } = teller;
  for (let ms = fromMs; ms < untilMs - 4 * MINUTE;) {
    const kind = by.pick(['project', 'project', 'project', 'read', 'talk', 'meet']);
    const minutes = { project: 25 + by.upTo(50), read: 6 + by.upTo(14), talk: 4 + by.upTo(8), meet: 25 }[
      kind
    ];
    const toMs = Math.min(untilMs, ms + (minutes ?? 5) * MINUTE);
    if (kind === 'project') {
      tellProject(teller, by.pick(['website', 'website', 'payments', 'payments', 'notes']), ms, toMs);
    } else {
      const apps = { read: ['Firefox'], talk: ['Slack', 'Mail'], meet: ['Zoom'] }[kind] ?? [];
      tellFocus(teller, ms, toMs, apps);
    }
    ms = toMs + by.upTo(2) * MINUTE;
  }
}

/** Tells work on a repository: a session, the focus on its terminal and editor, and perhaps a commit. */
function tellProject(
  teller: Teller,
  repo: string,
  fromMs: number,
  toMs: number,
  assistant = teller.random.pick([0, 0, 0, 1, 1, 2, 3]),
): void {
  const { random: by, out } = teller;
  const { tasks, branches } = REPOSITORIES[repo] as (typeof REPOSITORIES)[string];
  const branch = by.pick(branches);
  // Some sessions continue while you do something else.
  const endMs = Math.min(toMs + by.upTo(12) * MINUTE, out.endMs - MINUTE);
  const about = { repo, branch, title: by.next(tasks), fromMs, toMs: endMs, ending: 'over' as const };
  const session = tellSession(teller, about, assistant);
  tellFocus(teller, fromMs, toMs, ['Ghostty', 'Code', 'Ghostty', by.pick(['Firefox', 'Code'])], session);
  if (by.upTo(10) < 7) tellCommit(teller, session, toMs - by.upTo(5) * MINUTE);
}

/** Tells which application had the focus, in pieces that end at full hours. */
function tellFocus(
  { random: by, out, machine, folder }: Teller,
  fromMs: number,
  toMs: number,
  apps: readonly string[],
  session?: StorySession,
): void {
  for (let ms = fromMs, index = 0; ms < toMs; index += 1) {
    const endMs = Math.min(toMs, ms + (3 + by.upTo(7)) * MINUTE, (Math.floor(ms / HOUR) + 1) * HOUR);
    const app = apps[index % apps.length] ?? 'Firefox';
    const isWork = session !== undefined && app !== 'Firefox';
    const place = isWork ? { path: `${folder}/${session.repo}`, branch: session.branch } : {};
    const seen = isWork && app === 'Ghostty' ? { sessions: [{ id: session.key }] } : {};
    const seconds = Math.round((endMs - ms) / 1000);
    out.focus.push({
      ts: toIso(endMs),
      type: 'app-focus',
      source: 'appFocus',
      app,
      ...(isWork && { repo: session.repo }),
      detail: { intervalSec: seconds, idleSec: 0, via: 'demo-events', ...place, ...seen, machine },
    });
    ms = endMs;
  }
}

function tellAway({ out, machine }: Teller, fromMs: number, toMs: number): void {
  const detail = { from: toIso(fromMs), reason: 'locked', machine };
  out.focus.push({ ts: toIso(toMs), type: 'away', source: 'appFocus', detail });
}

function tellCommit({ random: by, out, machine, folder }: Teller, session: StorySession, ms: number): void {
  const { repo, branch } = session;
  const sha = by.hex(40);
  const subject = by.next(REPOSITORIES[repo]?.commits ?? []);
  out.commits.push({
    ts: toIso(ms),
    type: 'git-commit',
    source: 'git',
    repo,
    detail: {
      sha,
      subject,
      branch,
      authoredAt: toIso(ms),
      identity: sha,
      path: `${folder}/${repo}`,
      machine,
    },
  });
}

/** Tells a session's events as its hooks report them: turns, tools, questions and requests for permission. */
function tellSession(
  { random: by, out, machine }: Teller,
  about: Omit<StorySession, 'key' | 'assistant' | 'model'>,
  index: number,
): StorySession {
  const { id: assistant, model } = ASSISTANTS[index] as (typeof ASSISTANTS)[number];
  const session = { ...about, key: sessionKey(assistant, by.hex(16)), assistant, model };
  const { key, repo, branch, fromMs, toMs, ending } = session;
  const hook = (ms: number, type: WorkEvent['type'], more: Partial<WorkEvent> = {}): void => {
    const by = assistant === 'claude-code' ? {} : { assistant };
    out.hooks.push({ ts: toIso(ms), type, session: key, slug: null, repo, ...by, machine, ...more });
  };
  const ask = (ms: number, kind: 'question' | 'permission_prompt'): string => {
    const tool = kind === 'question' ? 'AskUserQuestion' : 'Bash';
    hook(ms, 'tool-before', kind === 'question' ? { tool, asks: kind, call: 'ask' } : { tool });
    if (kind !== 'question') hook(ms + 1000, 'notification', { tool, reason: kind });
    return tool;
  };
  const terminal = { tty: `demo/${index}`, program: null, kittySocket: null, pid: null, started: null };
  hook(fromMs, 'session-start', { branch, model, reason: 'startup', terminal });
  let ms = fromMs + 20_000;
  while (ms < toMs) {
    hook(ms, 'prompt', { branch });
    const turnMs = Math.min(toMs, ms + (5 + by.upTo(14)) * MINUTE);
    const asksMs = by.upTo(10) < 4 ? ms + (turnMs - ms) / 2 : Infinity;
    for (let hasAsked = false; ms < turnMs; ms += (1 + by.upTo(2)) * MINUTE) {
      if (!hasAsked && ms > asksMs) {
        hasAsked = true;
        const tool = ask(ms, by.pick(['question', 'permission_prompt']));
        ms = Math.min(turnMs, ms + (1 + by.upTo(8)) * MINUTE);
        hook(ms, 'tool-after', tool === 'Bash' ? { tool } : { tool, call: 'ask' });
      } else hook(ms, 'tool-after', { tool: by.pick(['Read', 'Edit', 'Bash', 'Grep']) });
    }
    const isOpen = turnMs === toMs && ending !== 'over';
    if (!isOpen || ending === 'ready') hook(turnMs, 'stop');
    ms = turnMs + (1 + by.upTo(5)) * MINUTE;
    if (!isOpen && ending !== 'over' && ms >= toMs) hook(toMs - 1000, 'prompt', { branch });
  }
  if (ending === 'working') hook(toMs, 'tool-after', { tool: 'Edit' });
  else if (ending === 'over') hook(toMs, 'session-end', { reason: 'prompt_input_exit' });
  else if (ending !== 'ready') ask(toMs, ending);
  else hook(toMs, 'stop');
  out.sessions.push(session);
  return session;
}
