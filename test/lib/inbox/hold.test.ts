import { expect } from 'chai';
import { rmSync } from 'node:fs';

import { answerAsk, type Ask, type AskDecision, waitingAsks } from '../../../src/lib/inbox/asks';
import { holdAsk } from '../../../src/lib/inbox/hold';
import { StewardError } from '../../../src/lib/errors';
import { testArea, type TestArea } from '../../helpers/area';
import { campaign, killsOr, type Random } from '../../helpers/random';
import { long } from '../../helpers/long';

const HOLD = 8;
const SESSIONS = ['s1', 's2'] as const;
const INPUT = '{"command":"make"}';
const isOffered = (): Promise<boolean> => Promise.resolve(true);

interface Stored {
  id: string;
  session: string;
  [key: string]: unknown;
}

/** A person, an attacker with write access to the area, and two fake assistants, in steps of a clock of their own. */
class Schedule {
  steps = 0;
  nowMs = Date.parse('2026-11-20T09:00:00.000Z');
  isAway = true;
  /** What the person decided about which request, as shown. */
  readonly decided = new Map<string, AskDecision>();
  readonly opened = new Map<string, string>();
  readonly killed = new Set<string>();
  readonly results: ('allow' | 'deny' | 'none')[] = [];

  constructor(
    readonly area: TestArea,
    readonly random: Random,
  ) {
    area.deps.clock = { ...area.deps.clock, now: () => this.nowMs, monotonic: () => this.nowMs };
  }

  /** One poll of an assistant's hook: something happens first. */
  async poll(session: string): Promise<boolean> {
    this.steps += 1;
    if (this.killed.has(session)) return new Promise<boolean>(() => undefined);
    this.nowMs += this.random.below(2);
    const ask = waitingAsks(this.area.deps).find((one) => one.session === session);
    if (ask !== undefined) this.opened.set(ask.id, session);
    await this.act();
    return this.isAway;
  }

  async act(): Promise<void> {
    const { random } = this;
    const ids = [...this.opened.keys()];
    if (ids.length === 0) return;
    const id = random.pick(ids);
    await random.pick([
      () => this.answer(id),
      () => this.answer(id),
      () => this.forge(id),
      () => this.copy(),
      () => this.tamper(id),
      () => this.comeOrGo(),
      () => this.kill(id),
      () => Promise.resolve(),
      () => Promise.resolve(),
    ])();
  }

  async answer(id: string): Promise<void> {
    const behavior = this.random.pick(['allow', 'deny'] as const);
    const decision: AskDecision = { behavior, texts: [], forSession: false };
    const decide = (ask: Ask): AskDecision => {
      const isOwn = ask.input === INPUT && ask.session === this.opened.get(id);
      if (isOwn) this.decided.set(id, decision);
      return decision;
    };
    try {
      await answerAsk(this.area.deps, id, decide, 'a test');
    } catch (error) {
      if (!(error instanceof StewardError && error.kind === 'conflict')) throw error;
    }
  }

  private change(change: (asks: Stored[]) => void): Promise<void> {
    const stored = JSON.parse(this.area.read('state/asks.json')) as { asks: Stored[] };
    change(stored.asks);
    this.area.write('state/asks.json', JSON.stringify(stored));
    return Promise.resolve();
  }

  forge(id: string): Promise<void> {
    const given = { behavior: 'allow', texts: [], forSession: false, from: 'forged', mac: 'A'.repeat(43) };
    return this.change((asks) => {
      for (const ask of asks) if (ask.id === id) ask['answer'] = given;
    });
  }

  /** Gives one request's answer to another. */
  copy(): Promise<void> {
    return this.change((asks) => {
      const [from, to] = this.random.chance(0.5) ? asks : [...asks].reverse();
      if (from !== undefined && to !== undefined && from['answer'] !== undefined)
        to['answer'] = from['answer'];
    });
  }

  tamper(id: string): Promise<void> {
    return this.change((asks) => {
      const ask = asks.find((one) => one.id === id);
      if (ask === undefined) return;
      const changes = [{ input: '{"command":"rm -r"}' }, { tool: 'Write' }, { session: 's3' }];
      Object.assign(ask, this.random.pick(changes));
    });
  }

  comeOrGo(): Promise<void> {
    this.isAway = this.random.chance(0.5);
    return Promise.resolve();
  }

  /** Kills the process of a hook: it never answers, and another process has its pid. */
  kill(id: string): Promise<void> {
    if (this.random.chance(0.7)) return Promise.resolve();
    this.killed.add(this.opened.get(id) ?? '');
    return this.change((asks) => {
      for (const ask of asks)
        if (ask.id === id) ask['holder'] = { ...(ask['holder'] as object), started: '1' };
    });
  }

  async run(): Promise<void> {
    const holds = SESSIONS.map(async (session) => {
      const about = {
        session,
        slug: session,
        tool: 'Bash',
        input: INPUT,
        questions: [],
        kind: 'permission',
      } as const;
      const decision = await holdAsk(
        this.area.deps,
        { ...about, canAllow: true, canAllowSession: false },
        { isAway: () => this.poll(session), isOffered, holdMs: HOLD, pollMs: 1 },
      );
      this.check(session, decision);
    });
    const ends = SESSIONS.map(async (_, index) => {
      let isOver = false;
      const isKilled = async (): Promise<void> => {
        while (!isOver && !this.killed.has(SESSIONS[index] as string)) await new Promise(setImmediate);
      };
      const over = Promise.resolve(holds[index]).then(() => (isOver = true));
      await Promise.race([over, isKilled()]);
      return isOver;
    });
    await Promise.all(ends);
    // After its end, no request takes an answer.
    for (const id of this.opened.keys()) {
      this.decided.delete(id);
      await this.answer(id);
      expect(this.decided.has(id), 'a late answer').to.equal(false);
    }
  }

  check(session: string, decision: AskDecision | undefined): void {
    this.results.push(decision?.behavior ?? 'none');
    const ids = [...this.opened].filter(([, own]) => own === session).map(([id]) => id);
    const decisions = ids.flatMap((id) => this.decided.get(id) ?? []);
    if (decision !== undefined)
      expect(decisions, `${session} got ${decision.behavior}`).to.deep.include(decision);
  }
}

describe('held requests', function () {
  this.timeout(0);

  long('get only what a person decided about them, and never wait beyond the hold', async () => {
    const random = campaign('held requests');
    const answers = { allow: 0, deny: 0, none: 0 };
    for (let left = killsOr(25); left > 0; left -= 1) {
      const area = testArea();
      const schedule = new Schedule(area, random);
      await schedule.run();
      expect(schedule.steps).to.be.at.most(40 * HOLD);
      for (const result of schedule.results) answers[result] += 1;
      area.remove();
    }
    expect(Math.min(...Object.values(answers)), JSON.stringify(answers)).to.be.at.least(1);
    console.log(`      ${JSON.stringify(answers)}`);
  });

  const about = {
    session: 's',
    slug: 's',
    kind: 'permission',
    tool: 'Bash',
    input: INPUT,
    questions: [],
    canAllow: true,
    canAllowSession: false,
  } as const;
  const times = { holdMs: 60_000, pollMs: 1 };

  it('are not held while you are there or where it is unknown, and end at the first sign of you', async () => {
    const area = testArea();
    const answers = [true, true, false];
    const isAway = (): Promise<boolean> =>
      Promise.resolve(answers.shift() ?? expect.fail('asked after the end'));
    expect(await holdAsk(area.deps, about, { isAway, isOffered, ...times })).to.equal(undefined);
    expect(waitingAsks(area.deps)).to.deep.equal([]);
    expect(area.read('observability/answers.jsonl')).to.include('"decision":"abstain","from":"you are back"');
    const isHere = (): Promise<boolean> => Promise.resolve(false);
    expect(await holdAsk(area.deps, about, { isAway: isHere, isOffered, ...times })).to.equal(undefined);
    area.remove();
  });

  for (const [what, damaged] of [
    ['changed', '{"asks":[{"id":"q"}]}'],
    ['cut off', '{"asks":[{"id":"q'],
    ['removed', undefined],
  ] as const)
    it(`end at once if the stored request is ${what}`, async () => {
      const area = testArea();
      let polls = 0;
      const isAway = (): Promise<boolean> => {
        polls += 1;
        if (polls === 2 && damaged !== undefined) area.write('state/asks.json', damaged);
        else if (polls === 2) rmSync(area.area.asks);
        return Promise.resolve(polls < 3 || expect.fail('it still waits'));
      };
      expect(await holdAsk(area.deps, about, { isAway, isOffered, ...times })).to.equal(undefined);
      expect(area.read('observability/answers.jsonl').match(/"decision":"abstain"/g)).to.have.length(1);
      area.remove();
    });
});
