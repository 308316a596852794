import { expect } from 'chai';
import { statSync } from 'node:fs';
import { join } from 'node:path';

import { askText, askWaits, decisionFor, rowToAnswer, withAsks } from '../../../src/lib/inbox/answer';
import {
  answerAsk,
  answerTo,
  openAsk,
  renewAsk,
  takeAnswer,
  waitingAsks,
  type Ask,
  type AskDecision,
} from '../../../src/lib/inbox/asks';
import { orderedRows, type InboxWait } from '../../../src/lib/inbox/row';
import { sessionWaits } from '../../../src/lib/inbox/waits';
import { parseSession, type Session } from '../../../src/lib/sessions/session';
import { testArea, type TestArea } from '../../helpers/area';
import { rejection, thrown } from '../../helpers/errors';

const ALLOW: AskDecision = { behavior: 'allow', texts: [], forSession: false };

describe('asks and answers', () => {
  let area: TestArea;
  let nowMs: number;
  beforeEach(() => {
    area = testArea();
    nowMs = Date.now();
    area.deps.clock = { ...area.deps.clock, now: () => nowMs };
  });
  afterEach(() => area.remove());

  const permission = (more: Partial<Ask> = {}): Promise<Ask> =>
    openAsk(area.deps, {
      ...{ kind: 'permission', session: 's1', slug: 'shop', tool: 'Bash', input: '{"command":"ls"}' },
      ...{ questions: [], canAllow: true, canAllowSession: false, isHeld: true, untilMs: nowMs + 60_000 },
      ...more,
    });
  const answer = (id: string, decision = ALLOW, from = 'the terminal') =>
    answerAsk(area.deps, id, () => decision, from);
  const tamper = (change: (ask: Record<string, unknown>) => void): void => {
    const stored = JSON.parse(area.read('state/asks.json')) as { asks: Record<string, unknown>[] };
    for (const ask of stored.asks) change(ask);
    area.write('state/asks.json', JSON.stringify(stored));
  };

  it('gives the first answer once, and tells the others', async () => {
    const ask = await permission();
    expect(answerTo(area.deps, ask)).to.equal(undefined);
    await answer(ask.id);
    expect((await rejection(answer(ask.id, ALLOW, 'the page'))).message).to.equal(
      'It was already answered from the terminal.',
    );
    expect(waitingAsks(area.deps)).to.deep.equal([]);
    const taken = await Promise.all([takeAnswer(area.deps, ask), takeAnswer(area.deps, ask)]);
    expect(taken.filter((one) => one !== undefined)).to.deep.equal([ALLOW]);
    expect((await rejection(answer(ask.id))).kind).to.equal('conflict');
  });

  it('takes no answer after the time, or once the process that asks has gone', async () => {
    const late = await permission();
    nowMs += 60_000;
    expect((await rejection(answer(late.id))).message).to.match(/no longer waits/);
    const orphan = await permission();
    tamper((ask) => (ask['holder'] = { ...(ask['holder'] as object), started: '1' }));
    expect((await rejection(answer(orphan.id))).message).to.match(/no longer waits/);
    expect(waitingAsks(area.deps)).to.deep.equal([]);
    // Hooks that are killed leave nothing behind, so that they don't use up the places.
    await permission();
    expect(area.read('state/asks.json')).not.to.include(orphan.id);
  });

  it('takes no answer for another input, tool, session, time or decision, and shows none that was changed', async () => {
    const changes: Record<string, unknown> = {
      ...{ id: 'q-other', kind: 'question', session: 's2', slug: 'other', tool: 'Write', input: '{"command":"ls -l"}' },
      ...{ questions: [{ text: 'Which?', options: [] }], canAllow: false, canAllowSession: true },
      until: new Date(nowMs + 90_000).toISOString(),
      at: new Date(nowMs - 1).toISOString(),
      seal: 5,
    }; // prettier-ignore
    for (const [name, value] of Object.entries(changes)) {
      const ask = await permission();
      await answer((await permission()).id);
      tamper((one) => (one[name] = value));
      expect(waitingAsks(area.deps), name).to.deep.equal([]);
      expect((await rejection(answer(ask.id))).kind, name).to.equal('conflict');
      expect(await takeAnswer(area.deps, ask), name).to.equal(undefined);
    }
    const [denied, forged] = [await permission(), await permission()];
    await answer(denied.id, { ...ALLOW, behavior: 'deny' });
    tamper((ask) => {
      const stored = ask['answer'] as object | undefined;
      ask['answer'] = { ...stored, ...ALLOW, from: 'the page', ...(stored ? {} : { mac: 'x'.repeat(43) }) };
    });
    expect(
      waitingAsks(area.deps).map(({ id }) => id),
      'both wait again',
    ).to.deep.equal([denied.id, forged.id]);
    expect(await takeAnswer(area.deps, denied), 'decision').to.equal(undefined);
    await answer(forged.id);
    expect(await takeAnswer(area.deps, forged), 'a real one after a forged one').to.deep.equal(ALLOW);
  });

  it('takes no answer that belongs to another ask', async () => {
    const [first, second] = [await permission(), await permission()];
    await answer(first.id);
    const stored = JSON.parse(area.read('state/asks.json')) as { asks: { answer?: unknown }[] };
    const [{ answer: given } = {}] = stored.asks;
    tamper((ask) => (ask['answer'] = given));
    expect(await takeAnswer(area.deps, second)).to.equal(undefined);
    expect(await takeAnswer(area.deps, first)).to.deep.equal(ALLOW);
  });

  it('keeps its key private, and logs each decision without the input', async () => {
    const ask = await permission({ input: '{"command":"SECRET"}' });
    nowMs += 7_000;
    await answer(ask.id, { ...ALLOW, behavior: 'deny', texts: ['SECRET'] });
    const line: unknown = JSON.parse(area.read('observability/answers.jsonl'));
    const ts = new Date(nowMs).toISOString();
    expect(line).to.deep.equal({ ts, tool: 'Bash', decision: 'deny', from: 'the terminal', seconds: 7 });
    if (process.platform !== 'win32')
      expect(statSync(join(area.area.machine, 'answers.key')).mode & 0o777).to.equal(0o600);
  });

  it('keeps an answered question of ask_me for the next call', async () => {
    const ask = await permission({ kind: 'ask', session: null, slug: null, tool: 'ask_me' });
    const renewed = await renewAsk(area.deps, ask.id, nowMs + 120_000);
    await answer(ask.id, { ...ALLOW, texts: ['yes'] });
    nowMs += 180_000;
    const again = await renewAsk(area.deps, ask.id, nowMs + 60_000);
    expect(answerTo(area.deps, again)?.texts).to.deep.equal(['yes']);
    expect(answerTo(area.deps, renewed)?.texts).to.deep.equal(['yes']);
    nowMs += 3_600_000;
    await permission();
    expect((await rejection(renewAsk(area.deps, ask.id, nowMs))).kind).to.equal('not_found');
  });

  it('starts over with a damaged file', () => {
    area.write('state/asks.json', '{"asks":[{"id":5}, 7, {"id":');
    expect(waitingAsks(area.deps)).to.deep.equal([]);
    area.write('state/asks.json', '{"asks":[{"id":5}, 7]}');
    expect(waitingAsks(area.deps)).to.deep.equal([]);
  });

  it('is shown in its own row, or in the row of its session, with control characters written out', async () => {
    const questions = [{ text: 'Which\u001b[31m one?', options: ['Old', 'N\u202eew'] }];
    await permission({ input: '{"command":"ls \u202e"}' });
    await permission({ kind: 'ask', session: null, slug: null, tool: 'ask_me', questions });
    const asks = waitingAsks(area.deps);
    const at = new Date(nowMs).toISOString();
    const waiting = parseSession('shop', {
      ...{ sessionIds: ['s1'], startedAt: at, updatedAt: at, activity: 'waiting', waitingSince: at },
      requests: [{ agent: null, reason: 'permission_prompt', tool: 'Bash', at }],
    }) as Session;
    const [row] = withAsks(sessionWaits([waiting], nowMs), asks);
    expect(row?.ask).to.include({ kind: 'permission', input: '{"command":"ls \\u202e"}' });
    const rows = orderedRows([row as InboxWait], nowMs);
    const id = row?.ask?.id ?? '';
    expect(rowToAnswer(rows, id, 'allow').ask?.id).to.equal(id);
    expect(rowToAnswer(rows, 'shop', 'deny').ask?.id).to.equal(id);
    expect(() => rowToAnswer(rows, 'shop', 'allow')).to.throw('use the id that is shown');
    expect(() => rowToAnswer(rows, 'q-0123456789ab', 'allow')).to.throw('It was answered');
    const [own] = askWaits(asks, new Map());
    expect(own).to.deep.include({ kind: 'question', blocks: true, title: 'Which\\u001b[31m one?' });
    if (own?.ask === undefined) throw new Error('no ask');
    expect(askText(own.ask).split('\n')).to.deep.equal([
      'Which\\u001b[31m one?',
      '  1  Old',
      '  2  N\\u202eew',
      '',
      `To answer: steward answer ${own.ask.id} NUMBER, TEXT or --deny`,
    ]);
  });

  it('reads numbers as options, and refuses what does not fit', () => {
    const one = { text: 'Which?', options: ['A', 'B'] };
    const many = { questions: [{ ...one, many: true }] };
    const ask = {
      id: 'q',
      kind: 'question',
      questions: [one],
      canAllow: true,
      canAllowSession: false,
    } as const;
    const of = (answer: string, more: object = {}): readonly string[] =>
      decisionFor({ ...ask, tool: 'x', ...more }, { answer }).texts;
    expect(of('2')).to.deep.equal(['B']);
    expect(of('1, 2', many)).to.deep.equal(['A, B']);
    expect(thrown(() => of('1,2')).message).to.equal('Only one answer fits, not "1,2".');
    expect(thrown(() => of('1,3', many)).message).to.equal('Invalid number "1,3".');
    expect(of('neither; both')).to.deep.equal(['neither; both']);
    expect(of('1; own words', { questions: [one, one] })).to.deep.equal(['A', 'own words']);
    for (const wrong of ['3', '0', ' ']) expect(thrown(() => of(wrong)).kind, wrong).to.equal('usage');
    expect(thrown(() => of('1', { questions: [one, one] })).kind).to.equal('usage');
    const tool = { ...ask, kind: 'permission', tool: 'Bash', until: '', questions: [] } as const;
    expect(decisionFor(tool, { behavior: 'allow' })).to.deep.equal(ALLOW);
    expect(thrown(() => decisionFor({ ...tool, canAllow: false }, { behavior: 'allow' })).kind).to.equal(
      'conflict',
    );
    expect(thrown(() => decisionFor(tool, { behavior: 'allow', forSession: true })).kind).to.equal('usage');
    expect(thrown(() => decisionFor(tool, { answer: '1' })).kind).to.equal('usage');
    expect(decisionFor(tool, { behavior: 'deny', answer: 'no' }).texts).to.deep.equal(['no']);
  });
});
