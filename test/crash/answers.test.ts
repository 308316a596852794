import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { createContext, type Context } from '../../src/lib/app/context';
import { openPushes, pushesJob } from '../../src/lib/app/pushes';
import { loadConfig } from '../../src/lib/config/load';
import { secret } from '../../src/lib/config/secret';
import { StewardError } from '../../src/lib/errors';
import { answerAsk, waitingAsks, type Ask } from '../../src/lib/inbox/asks';
import { telegramChannel } from '../../src/lib/notify/channels/telegram';
import { readPushes } from '../../src/lib/notify/pushes';
import { testArea, type TestArea } from '../helpers/area';
import { bundleChild, type Bundle } from '../helpers/bundle';
import { httpDeps, parcel } from '../helpers/notify';
import { notifyServer, type NotifyServer } from '../helpers/notify-server';
import { campaign, IS_LONG, killsOr, type Random } from '../helpers/random';

const SCHEDULES = killsOr(5);
const YOU = 4711;
const SESSIONS = ['s1', 's2'] as const;
const INPUT = '{"command":"make"}';
/** More polls than fit into the hold. */
const MOST_POLLS = 200;

interface Stored {
  id: string;
  session: string;
  [key: string]: unknown;
}

/** Two hooks in processes of their own, a person with a terminal and Telegram, and somebody who changes files. */
class Schedule {
  readonly area: TestArea = testArea();
  readonly context: Context;
  /** The session of each request that was seen, and what the person decided about it. */
  readonly sessions = new Map<string, string>();
  readonly decided = new Map<string, string[]>();
  readonly results: { session: string; result: string; polls: number }[] = [];
  updates: object[] = [];
  killed = 0;

  constructor(
    readonly bundle: Bundle,
    readonly server: NotifyServer,
    readonly random: Random,
  ) {
    this.context = {
      ...createContext(this.area.home),
      clock: this.area.deps.clock,
      area: this.area.area,
      machineId: '0123456789ab',
      loadConfig: () => loadConfig({ area: this.area.area, env: {} }),
    } as Context;
    server.usual = ({ path, body }) => {
      const offset = Number(body['offset']);
      const after = this.updates.filter((one) => (one as { update_id: number }).update_id >= offset);
      return {
        status: 200,
        body: { ok: true, result: path.endsWith('/getUpdates') ? after : { message_id: 1 } },
      };
    };
  }

  async hook(session: string): Promise<void> {
    const child = spawn(process.execPath, [this.bundle.path, this.area.home, session, INPUT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const killAfter = this.random.chance(0.4) ? this.random.below(60) : Infinity;
    let polls = 0;
    createInterface(child.stdout).on('line', (line) => {
      if (line !== 'poll')
        this.results.push({ session, ...(JSON.parse(line) as { result: string; polls: number }) });
      polls += 1;
      // Random in time too: otherwise it always dies just behind a poll.
      if (polls === killAfter) setTimeout(() => child.kill('SIGKILL'), this.random.next() * 8);
    });
    const [, signal] = (await ended) as [number | null, string | null];
    if (signal !== null) this.killed += 1;
  }

  note(id: string, behavior: string): void {
    this.decided.set(id, [...(this.decided.get(id) ?? []), behavior]);
  }

  async answer(id: string): Promise<void> {
    const behavior = this.random.pick(['allow', 'deny'] as const);
    const decide = (ask: Ask) => {
      // The person sees what the row shows, and answers only that.
      if (ask.input === INPUT && ask.tool === 'Bash' && ask.session === this.sessions.get(id))
        this.note(id, behavior);
      return { behavior, texts: [], forSession: false };
    };
    await answerAsk(this.context, id, decide, 'a test').catch((error: unknown) => {
      if (!(error instanceof StewardError && error.kind === 'conflict')) throw error;
    });
  }

  change(change: (asks: Stored[]) => void): void {
    const stored = JSON.parse(this.area.read('state/asks.json')) as { asks: Stored[] };
    change(stored.asks);
    this.area.write('state/asks.json', JSON.stringify(stored));
  }

  /** Presses a button of an earlier message, as the person or as somebody else. */
  press(): void {
    const pushes = readPushes(openPushes(this.context, true)).filter(({ buttons }) => buttons.length > 0);
    if (pushes.length === 0) return;
    const { wait, thread, buttons } = this.random.pick(pushes);
    this.sessions.set(wait, thread);
    const { token, given } = this.random.pick(buttons);
    const isForged = this.random.chance(0.3);
    const from = isForged && this.random.chance(0.5) ? 666 : YOU;
    const data = isForged && from === YOU ? 'f'.repeat(32) : token;
    if (data === token && from === YOU) this.note(wait, given.behavior ?? '');
    const query = { id: 'c', from: { id: from }, data, message: { chat: { id: from } } };
    this.updates.push({ update_id: this.updates.length + 1, callback_query: query });
  }

  async run(): Promise<void> {
    const { area, random } = this;
    mkdirSync(join(area.home, 'area', 'state'), { recursive: true, mode: 0o700 });
    const { deps, telegram } = httpDeps(this.server.url);
    telegram.chatId = secret('notifications.telegram.chatId', String(YOU));
    const channel = telegramChannel({
      ...deps,
      pushes: openPushes(this.context, true),
      clock: this.context.clock,
    });
    const job = pushesJob(this.context, channel);
    let running = SESSIONS.length;
    const hooks = SESSIONS.map((session) => this.hook(session).finally(() => (running -= 1)));
    const here = join(area.home, 'here');
    while (running > 0) {
      await new Promise((resolve) => setTimeout(resolve, random.below(12)));
      const asks = waitingAsks(this.context);
      for (const { id, session } of asks) if (!this.sessions.has(id)) this.sessions.set(id, session ?? '');
      const [id] = [random.pick([...this.sessions.keys(), ''])];
      if (id === '') continue;
      await random.pick([
        () => this.answer(id),
        () => this.press(),
        () => channel.send(parcel({ event: 'attention', thread: random.pick(SESSIONS) }), () => undefined),
        () => job.run(),
        () => job.run(),
        () =>
          this.change((all) => {
            const given = {
              behavior: 'allow',
              texts: [],
              forSession: false,
              from: 'forged',
              mac: 'A'.repeat(43),
            };
            for (const ask of all) if (ask.id === id && ask['answer'] === undefined) ask['answer'] = given;
          }),
        () =>
          this.change((all) => {
            const ask = all.find((one) => one.id === id);
            if (ask !== undefined && ask['answer'] === undefined) ask['input'] = '{"command":"rm -r"}';
          }),
        () =>
          this.change(([from, to]) => {
            if (from?.['answer'] !== undefined && to !== undefined) to['answer'] = from['answer'];
          }),
        () => (random.chance(0.1) ? writeFileSync(here, '') : rmSync(here, { force: true })),
      ])();
    }
    await Promise.all(hooks);
    await this.check();
    await job.run();
    expect(readPushes(openPushes(this.context, true)), 'pushes after the end').to.deep.equal([]);
    area.remove();
  }

  async check(): Promise<void> {
    const log = join(this.area.home, 'area', 'observability', 'answers.jsonl');
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    for (const { session, result, polls } of this.results) {
      expect(polls).to.be.at.most(MOST_POLLS);
      if (result === 'none') continue;
      const own = [...this.sessions].filter(([, other]) => other === session).map(([id]) => id);
      expect(
        own.flatMap((id) => this.decided.get(id) ?? []),
        `${session} got ${result}`,
      ).to.include(result);
      const took = this.results.filter((one) => one.result === result).length;
      const logged = lines.filter((line) => line.includes(`"tool":"Bash","decision":"${result}"`));
      expect(logged.length, `${result} in the log`).to.be.at.least(took);
    }
    expect(waitingAsks(this.context), 'requests after the end').to.deep.equal([]);
    for (const id of this.sessions.keys()) {
      this.decided.delete(id);
      await this.answer(id);
      expect(this.decided.has(id), 'a late answer').to.equal(false);
    }
  }
}

describe('crash: held requests', function () {
  this.timeout(120_000 + SCHEDULES * 5_000);
  let bundle: Bundle;
  let server: NotifyServer;
  before(async () => {
    bundle = bundleChild('held-request');
    server = await notifyServer(() => ({ status: 200 }));
  });
  after(async () => {
    bundle.remove();
    await server.close();
  });

  it(`get only what a person decided, in ${SCHEDULES} schedules with kills, forgeries and buttons`, async () => {
    const random = campaign('answers');
    const counts = { allow: 0, deny: 0, none: 0, killed: 0 };
    for (let left = SCHEDULES; left > 0; left -= 1) {
      const schedule = new Schedule(bundle, server, random);
      await schedule.run();
      for (const { result } of schedule.results) counts[result as keyof typeof counts] += 1;
      counts.killed += schedule.killed;
      expect(schedule.results.length + schedule.killed).to.be.at.least(SESSIONS.length);
    }
    console.log(`      ${JSON.stringify(counts)}`);
    if (IS_LONG) expect(Math.min(...Object.values(counts))).to.be.at.least(1);
  });
});
