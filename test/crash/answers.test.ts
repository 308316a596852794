import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import type { Context } from '../../src/lib/app/context';
import { openPushes } from '../../src/lib/app/pushes';
import { StewardError } from '../../src/lib/errors';
import { answerAsk, waitingAsks, type Ask, type AskDecision } from '../../src/lib/inbox/asks';
import type { Channel } from '../../src/lib/notify/channels/channel';
import { readPushes, type SentPush } from '../../src/lib/notify/pushes';
import { replaceFile } from '../../src/lib/platform/files/atomic-file';
import { answersWorld, YOU } from '../helpers/answers-world';
import { bundleChild, type Bundle } from '../helpers/bundle';
import type { Order } from '../helpers/children/answers-daemon';
import { notifyServer, type NotifyServer } from '../helpers/notify-server';
import { campaign, IS_LONG, killsOr, type Random } from '../helpers/random';

const SCHEDULES = killsOr(10);
/** A schedule is what happens to one session's request. So many run at the same time, with one daemon. */
const AT_ONCE = 10;
const MOST_POLLS = 40;
const FORGED = { behavior: 'allow', texts: [], forSession: false, from: 'forged', mac: 'A'.repeat(43) };
const inputOf = (session: string): string => JSON.stringify({ command: `make ${session}` });

type Behavior = 'allow' | 'deny';
type Stored = Record<string, unknown> & { id: string };
type Children = Record<'hook' | 'daemon', Bundle>;

type Result = { session: string; result: 'none' | Behavior; polls: number };

/** Hooks and a daemon in processes of their own, a person with a terminal, a page and Telegram, and an attacker. */
class World {
  readonly home = mkdtempSync(join(tmpdir(), 'steward-answers-'));
  readonly context: Context;
  readonly channel: Channel;
  readonly asks: string;
  /** The session of each request that was seen, and what the person decided about it. */
  readonly sessions = new Map<string, string>();
  readonly decided = new Map<string, Behavior[]>();
  readonly counts = { allow: 0, deny: 0, none: 0, hooksKilled: 0, daemonsKilled: 0, forged: 0, steps: 0 };
  results: Result[] = [];
  updates: { update_id: number; callback_query: object }[] = [];
  pressed = 0;
  earlier = '';
  daemon: ChildProcess;
  /** Called with the number of a request to say when the orders before it are done. */
  onSync: (sync: number) => void = () => undefined;
  syncs = 0;

  constructor(
    readonly children: Children,
    readonly server: NotifyServer,
    readonly random: Random,
  ) {
    mkdirSync(join(this.home, 'area', 'state'), { recursive: true, mode: 0o700 });
    ({ context: this.context, channel: this.channel } = answersWorld(this.home, server.url));
    this.asks = this.context.area.asks;
    server.usual = ({ path, body }) => {
      server.got.length = 0;
      // As Telegram does: an offset confirms the updates before it.
      this.updates = this.updates.filter(({ update_id: id }) => id >= Number(body['offset'] ?? 0));
      const result = path.endsWith('/getUpdates') ? this.updates : { message_id: 1 };
      return { status: 200, body: { ok: true, result } };
    };
    this.daemon = this.startDaemon();
  }

  private startDaemon(): ChildProcess {
    const args = [this.children.daemon.path, this.home, this.server.url];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.on('error', () => undefined); // It was killed.
    createInterface(child.stdout).on('line', (line) => {
      const { id, sync, behavior, session, input } = JSON.parse(line) as Partial<Stored>;
      if (id === undefined) this.onSync(Number(sync));
      else this.decide(id, behavior as Behavior, session, input);
    });
    return child;
  }

  /** Waits until the daemon has started and has done all orders. */
  async settle(): Promise<void> {
    const sync = (this.syncs += 1);
    const isDone = new Promise<void>((resolve) => (this.onSync = (one) => one === sync && resolve()));
    this.order({ sync });
    await Promise.race([isDone, once(this.daemon, 'close')]);
    expect(this.daemon.exitCode, 'the daemon').to.equal(null);
  }

  private order(order: Order): void {
    this.daemon.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** Also throws if the daemon ended by itself. */
  async killDaemon(): Promise<void> {
    const closed = once(this.daemon, 'close');
    expect(this.daemon.kill('SIGKILL'), 'the daemon runs').to.equal(true);
    await closed;
    this.counts.daemonsKilled += 1;
  }

  private async hook(session: string): Promise<void> {
    const args = [this.children.hook.path, this.home, session, inputOf(session), String(MOST_POLLS)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'close');
    const killAfter = this.random.chance(0.4) ? 1 + this.random.below(MOST_POLLS) : Infinity;
    let polls = 0;
    createInterface(child.stdout).on('line', (line) => {
      if (line !== 'poll')
        this.results.push({ session, ...(JSON.parse(line) as { result: 'none'; polls: number }) });
      polls += 1;
      // Random in time too: otherwise it always dies just behind a poll.
      if (polls === killAfter) setTimeout(() => child.kill('SIGKILL'), this.random.next() * 8);
    });
    const [code, signal] = (await ended) as [number | null, string | null];
    expect(code, `the hook of ${session}`).to.equal(signal === null ? 0 : null);
    if (signal !== null) this.counts.hooksKilled += 1;
  }

  /** The person sees the request with its whole input, and decides. */
  private decide(id: string, behavior: Behavior, session: unknown, input: unknown): void {
    const seen = this.sessions.get(id) ?? '';
    expect({ session, input }, 'shown').to.deep.equal({ session: seen, input: inputOf(seen) });
    this.decided.set(id, [...(this.decided.get(id) ?? []), behavior]);
  }

  private async answer(id: string, behavior: Behavior): Promise<void> {
    const decide = ({ session, input }: Ask): AskDecision => {
      this.decide(id, behavior, session, input);
      return { behavior, texts: [], forSession: false };
    };
    await answerAsk(this.context, id, decide, 'the terminal').catch(throwUnlessConflict);
  }

  /** Answers when it is too late. */
  private async late(id: string, atMs = this.context.clock.now()): Promise<void> {
    const context = { ...this.context, clock: { ...this.context.clock, now: () => atMs } };
    await answerAsk(context, id, () => expect.fail('a late answer'), 'the terminal').catch(
      throwUnlessConflict,
    );
  }

  /** The attacker changes the file, which a synced folder allows. */
  private change(change: (asks: Stored[]) => void): void {
    const stored = JSON.parse(readFileSync(this.asks, 'utf8')) as { asks: Stored[] };
    change(stored.asks);
    replaceFile(this.asks, JSON.stringify(stored));
    this.counts.forged += 1;
  }

  /** Presses a button of a message, as the person or as somebody else, once or twice. */
  private press(pushes: readonly SentPush[]): void {
    const { random } = this;
    const withButtons = pushes.filter(({ buttons }) => buttons.length > 0);
    if (withButtons.length === 0) return;
    const { wait, thread, buttons } = random.pick(withButtons);
    this.sessions.set(wait, thread);
    const { token, given } = random.pick(buttons);
    const from = random.chance(0.2) ? 666 : YOU;
    const data = random.chance(0.1) ? 'f'.repeat(32) : token;
    if (data === token && from === YOU)
      this.decide(wait, given.behavior as Behavior, thread, inputOf(thread));
    const query = { id: 'c', from: { id: from }, data, message: { chat: { id: from } } };
    for (let times = random.chance(0.2) ? 2 : 1; times > 0; times -= 1)
      this.updates.push({ update_id: (this.pressed += 1), callback_query: query });
  }

  private step(id: string, names: readonly string[]): () => unknown {
    const { random } = this;
    const session = this.sessions.get(id) ?? '';
    const behavior = random.pick(['allow', 'deny'] as const);
    const other = behavior === 'allow' ? 'deny' : 'allow';
    const here = join(this.home, `here-${session}`);
    const changed = (more: object) => () =>
      this.change((asks) => asks.filter((ask) => ask.id === id).forEach((ask) => Object.assign(ask, more)));
    const answers = [
      () => this.answer(id, behavior),
      () => this.order({ answer: id, behavior }),
      // Two at the same moment.
      () => (this.order({ answer: id, behavior: other }), this.answer(id, behavior)),
      () => Promise.all([this.answer(id, behavior), this.answer(id, other)]),
      () => this.press(readPushes(openPushes(this.context, true))),
      () => this.press(readPushes(openPushes(this.context, true))),
      () => this.order({ send: session }),
      () => this.order({ send: session }),
    ];
    const attacks = [
      changed({ answer: FORGED }),
      changed({ input: '{"command":"rm -r"}' }),
      changed({ canAllow: true, slug: random.pick(names), session: random.pick(names) }),
      () => this.change(([from, to]) => to && from && Object.assign(to, { answer: from['answer'] })),
      // A copy of the file from before.
      () => this.earlier !== '' && replaceFile(this.asks, this.earlier),
      () => (this.earlier = readFileSync(this.asks, 'utf8')),
    ];
    const others = [
      () => this.late(id, this.context.clock.now() + MOST_POLLS * 1000),
      () => (random.chance(0.3) ? writeFileSync(here, '') : rmSync(here, { force: true })),
      () => this.restart(),
    ];
    return random.pick(random.pick([answers, answers, answers, attacks, others]));
  }

  private async restart(): Promise<void> {
    if (this.random.chance(0.7)) return;
    await this.killDaemon();
    this.daemon = this.startDaemon();
    if (this.random.chance(0.5)) await this.settle();
  }

  async round(names: readonly string[]): Promise<void> {
    const { random, context, counts } = this;
    const killedBefore = counts.hooksKilled;
    [this.results, this.earlier] = [[], ''];
    this.sessions.clear();
    this.decided.clear();
    let running = names.length;
    const hooks = names.map((session) => this.hook(session).finally(() => (running -= 1)));
    while (running > 0) {
      await new Promise((resolve) => setTimeout(resolve, random.below(8)));
      for (const { id, session } of waitingAsks(context))
        if (!this.sessions.has(id)) this.sessions.set(id, session ?? '');
      if (this.sessions.size === 0) continue;
      await this.step(random.pick([...this.sessions.keys()]), names)();
      counts.steps += 1;
    }
    await Promise.all(hooks);
    expect(this.results.length + counts.hooksKilled - killedBefore).to.be.at.least(names.length);
    await this.settle();
    await this.check();
    expect(readPushes(openPushes(context, true)), 'pushes after the end').to.deep.equal([]);
  }

  log(): string[] {
    const { answersLog } = this.context.area;
    return existsSync(answersLog) ? readFileSync(answersLog, 'utf8').trim().split('\n') : [];
  }

  private async check(): Promise<void> {
    const { counts, results } = this;
    expect(new Set(results.map(({ session }) => session)).size, 'one result each').to.equal(results.length);
    for (const { session, result, polls } of results) {
      counts[result] += 1;
      expect(polls, 'polls of a hold').to.be.at.most(MOST_POLLS + 1);
      if (result === 'none') continue;
      const own = [...this.sessions].filter(([, other]) => other === session).map(([id]) => id);
      const decisions = own.flatMap((id) => this.decided.get(id) ?? []);
      expect(decisions, `${session} got ${result}`).to.include(result);
    }
    const log = this.log();
    for (const behavior of ['allow', 'deny'] as const) {
      const logged = log.filter((line) => line.includes(`"tool":"Bash","decision":"${behavior}"`));
      expect(logged.length, `${behavior} in the log`).to.be.at.least(counts[behavior]);
    }
    expect(log.join('\n')).not.to.include('make');
    expect(waitingAsks(this.context), 'requests after the end').to.deep.equal([]);
    for (const id of this.sessions.keys()) await this.late(id);
  }
}

function throwUnlessConflict(error: unknown): void {
  if (!(error instanceof StewardError && error.kind === 'conflict')) throw error;
}

describe('crash: held requests', function () {
  this.timeout(120_000 + SCHEDULES * 10_000);
  let children: Children;
  let server: NotifyServer;
  before(async () => {
    children = { hook: bundleChild('held-request'), daemon: bundleChild('answers-daemon', ['typescript']) };
    server = await notifyServer(() => ({ status: 200 }));
  });
  after(async () => {
    for (const bundle of [children.hook, children.daemon]) bundle.remove();
    await server.close();
  });

  it(`get only what a person decided, in ${SCHEDULES} schedules with kills, forgeries and buttons`, async () => {
    const world = new World(children, server, campaign('answers'));
    try {
      await world.settle();
      for (let at = 0; at < SCHEDULES; at += AT_ONCE)
        await world.round(Array.from({ length: Math.min(SCHEDULES - at, AT_ONCE) }, (_, n) => `s${at + n}`));
    } finally {
      await world.killDaemon();
    }
    const from = (place: string): number => world.log().filter((line) => line.includes(place)).length;
    const places = { terminal: from('the terminal'), page: from('the page'), Telegram: from('Telegram') };
    const counts = { ...world.counts, ...places };
    rmSync(world.home, { recursive: true, force: true });
    console.log(`      ${JSON.stringify(counts)}`);
    if (IS_LONG) expect(Math.min(...Object.values(counts))).to.be.at.least(1);
  });
});
