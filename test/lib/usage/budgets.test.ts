import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import type { Budget } from '../../../src/lib/config/model-prices';
import { budgetStates, denial, limiting, type BudgetState } from '../../../src/lib/usage/budgets';
import { collectUsage, readAt } from '../../../src/lib/usage/collect';
import { crossedBudgets, announceLimits } from '../../../src/lib/usage/limits';
import { pricesWith } from '../../../src/lib/usage/prices';
import { scratch } from '../../helpers/scratch';
import { claudeLine, lineOf, NOW, usageBox, type ClaudeAnswer } from '../../helpers/usage';

const DAY = 86_400_000;
const LOG = '.claude/projects/shop/s1.jsonl';
const localTime = (iso: string): string => iso;

describe('usage budgets (lib)', () => {
  const box = scratch();

  /** A response that costs that many dollars. */
  const spent = (id: string, usd: number, more: Partial<ClaudeAnswer> = {}): object =>
    claudeLine({ id, input: usd * 200_000, output: 0, ...more });

  const statesOf = async (
    usage: ReturnType<typeof usageBox>,
    budgets: readonly Budget[],
  ): Promise<BudgetState[]> => {
    await collectUsage(usage.deps);
    const facts = new Map([['s1', { name: 'shop·login', issue: '#12' }]]);
    return budgetStates({
      ...usage.deps,
      budgets,
      prices: pricesWith({}),
      sessions: () => Promise.resolve(facts),
    });
  };

  const alerts = async (
    usage: ReturnType<typeof usageBox>,
    budgets: readonly Budget[],
    isKilled = false,
  ): Promise<string[]> => {
    const sent: string[] = [];
    const deps = { ...usage.deps, nowMs: usage.deps.clock.now(), localTime };
    const done = announceLimits(
      { ...deps, budgets: await statesOf(usage, budgets) },
      ({ message, dedupe }) => {
        sent.push(`${dedupe} ${message}`);
        return isKilled ? Promise.reject(new Error('killed')) : Promise.resolve();
      },
    );
    await done.catch((error: unknown) => expect(String(error)).to.equal('Error: killed'));
    return sent;
  };

  it('alert once when 80% is used, and once when all is, at exactly the line that crosses', async () => {
    const usage = usageBox(box.path());
    const budgets: Budget[] = [{ per: 'day', usd: 10 }];
    expect(await alerts(usage, budgets)).to.deep.equal([]);
    usage.log(LOG, [spent('m0', 7.99)]);
    expect(await alerts(usage, budgets)).to.deep.equal([]);
    const message = '80% of the day budget is used: $8.00 of $10.00, most by shop·login ($8.00).';
    usage.append(LOG, lineOf(spent('m1', 0.01)));
    const first = await alerts(usage, budgets, true);
    expect(first).to.deep.equal([`budget:day:2026-11-20::10:80 ${message}`]);
    // A run that was killed before it stored the alert sends the same key again.
    expect(await alerts(usage, budgets)).to.deep.equal(first);
    usage.append(LOG, lineOf(spent('m2', 1.99)));
    expect(await alerts(usage, budgets)).to.deep.equal([]);
    usage.append(LOG, lineOf(spent('m3', 0.01)));
    expect((await alerts(usage, budgets)).map((text) => text.split(' ')[0])).to.deep.equal([
      'budget:day:2026-11-20::10:100',
    ]);
    usage.append(LOG, lineOf(spent('m4', 50)));
    expect(await alerts(usage, budgets)).to.deep.equal([]);
  });

  it('send one alert if a line crosses both, and begin again with the next period or amount', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [spent('m1', 12)]);
    expect(await alerts(usage, [{ per: 'day', usd: 10 }])).to.have.length(1);
    expect(await alerts(usage, [{ per: 'day', usd: 10 }])).to.deep.equal([]);
    expect(await alerts(usage, [{ per: 'day', usd: 15 }])).to.deep.equal([
      'budget:day:2026-11-20::15:80 80% of the day budget is used: $12.00 of $15.00, most by shop·login ($12.00).',
    ]);
    usage.at(NOW + DAY);
    expect(await alerts(usage, [{ per: 'day', usd: 10 }])).to.deep.equal([]);
    usage.append(LOG, lineOf(spent('m2', 9, { at: '2026-11-21T10:00:00.000Z' })));
    expect(await alerts(usage, [{ per: 'day', usd: 10 }])).to.have.length(1);
    // No reset of a budget is announced, and a month is remembered to its end.
    usage.at(NOW + 30 * DAY);
    expect(await alerts(usage, [{ per: 'day', usd: 10 }])).to.deep.equal([]);
  });

  it('are per session, week, month and repository, in dollars or tokens', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [
      spent('m1', 2, { session: 's1', at: '2026-10-31T10:00:00.000Z' }),
      spent('m2', 3, { session: 's1', at: '2026-11-02T10:00:00.000Z' }),
      spent('m3', 4, { session: 's2', at: '2026-11-16T10:00:00.000Z' }),
      spent('m4', 1, { session: 's3' }),
    ]);
    const percents = async (...budgets: Budget[]): Promise<string[]> =>
      (await statesOf(usage, budgets)).map(({ name, percent }) => `${name} ${percent}`);
    expect(
      await percents({ per: 'day', usd: 10 }, { per: 'week', usd: 10 }, { per: 'month', usd: 10 }),
    ).to.deep.equal(['day budget 10', 'week budget 50', 'month budget 80']);
    expect(await percents({ per: 'session', usd: 5 })).to.deep.equal([
      'session budget 100',
      'session budget 80',
    ]);
    expect(await percents({ per: 'week', tokens: 2_000_000 })).to.deep.equal(['week budget 50']);
    expect(await percents({ per: 'month', usd: 1, repo: 'shop' })).to.deep.equal(['month budget of shop 0']);
  });

  it('name the session, model and pace of the last 20 minutes', async () => {
    const usage = usageBox(box.path());
    const at = (minutes: number): Partial<ClaudeAnswer> => ({
      at: new Date(NOW - minutes * 60_000).toISOString(),
    });
    usage.log(LOG, [
      spent('m1', 30, { session: 's2', ...at(21) }),
      spent('m2', 9, at(19)),
      spent('m2', 9, at(19)),
      spent('m3', 5, at(1)),
      claudeLine({ id: 'm4', model: 'claude-haiku-4-5', input: 4_000_000, output: 0, ...at(1) }),
    ]);
    const texts = (
      await statesOf(usage, [
        { per: 'day', usd: 50 },
        { per: 'session', usd: 40 },
        { per: 'day', tokens: 20_000_000 },
      ])
    ).map(({ text }) => text);
    expect(texts).to.deep.equal([
      '$48.00 of $50.00, now shop·login, claude-opus-4-8, $18.00 in 20 min',
      '$30.00 of $40.00, most by s2 ($30.00)',
      '12.8M of 20.0M tokens, now shop·login, claude-haiku-4-5, 6.80M in 20 min',
    ]);
    expect((await statesOf(usage, [{ per: 'session', usd: 12 }])).map(({ text }) => text)).to.deep.equal([
      '$30.00 of $12.00, most by s2 ($30.00)',
      '$18.00 of $12.00, now shop·login, claude-opus-4-8, $18.00 in 20 min',
    ]);
  });

  it('are per issue, by the sessions that worked on it', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [spent('m1', 2), spent('m2', 3, { session: 's2' })]);
    const states = await statesOf(usage, [
      { per: 'month', usd: 2, issue: '#12' },
      { per: 'month', usd: 2, issue: '#13' },
    ]);
    expect(states.map(({ name, percent }) => `${name} ${percent}`)).to.deep.equal([
      'month budget of #12 100',
      'month budget of #13 0',
    ]);
  });

  it('are rows of the inbox since the alert, or before it since the logs were read', async () => {
    const usage = usageBox(box.path());
    const budgets: Budget[] = [{ per: 'day', usd: 10 }];
    const rows = async () =>
      crossedBudgets(usage.deps.state, await statesOf(usage, budgets)).map(({ id, since }) => [id, since]);
    expect(await rows()).to.deep.equal([]);
    usage.log(LOG, [spent('m1', 9)]);
    const key = 'budget:day:2026-11-20::10:80';
    const states = await statesOf(usage, budgets);
    expect(crossedBudgets(usage.deps.state, states)).to.deep.equal([
      { ...states[0], id: key, since: readAt(usage.deps.state) },
    ]);
    await alerts(usage, budgets);
    usage.at(NOW + 3_600_000);
    const first = [key, '2026-11-20T12:00:00.000Z'];
    expect(await rows()).to.deep.equal([first]);
    usage.append(LOG, lineOf(spent('m2', 1)));
    await alerts(usage, budgets);
    expect(await rows()).to.deep.equal([['budget:day:2026-11-20::10:100', '2026-11-20T13:00:00.000Z']]);
  });

  it('say that nothing is stored for what they name', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [spent('m1', 4)]);
    const budgets: Budget[] = [
      { per: 'session', tokens: 5, repo: 'shp' },
      { per: 'week', usd: 5, issue: '#13' },
    ];
    expect((await statesOf(usage, budgets)).map(({ name, text }) => `${name}: ${text}`)).to.deep.equal([
      'session budget of shp: 0 of 5 tokens, nothing stored for shp since 2026-10-12',
      'week budget of #13: $0.00 of $5.00, nothing stored for #13 since 2026-11-16',
    ]);
    const [own] = await statesOf(usage, [{ per: 'week', usd: 50, issue: '#12' }]);
    expect(own?.text).to.equal('$4.00 of $50.00, most by shop·login ($4.00)');
  });

  it('are used up by an amount that a fraction of a cent would miss', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [spent('m1', 0.88)]);
    expect((await statesOf(usage, [{ per: 'day', usd: 1.1 }]))[0]?.percent).to.equal(80);
  });

  it('never take an unknown price for 0', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [spent('m1', 4), spent('m2', 4, { model: 'new-model', session: 's2' })]);
    const [state] = await statesOf(usage, [{ per: 'day', usd: 10 }]);
    expect(state?.text).to.equal('at least $4.00 of $10.00, most by shop·login ($4.00)');
    const [counted] = await statesOf(usage, [{ per: 'day', tokens: 1_600_000 }]);
    expect([counted?.percent, counted?.text.split(',')[0]]).to.deep.equal([100, '1.60M of 1.60M tokens']);
  });

  it('limit only their session, repository or issue', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [spent('m1', 12)]);
    const [folder, other] = ['shop', 'infra'].map((name) => join(box.path(), name));
    for (const path of [folder, other]) {
      mkdirSync(join(path ?? '', '.git'), { recursive: true });
      writeFileSync(join(path ?? '', '.git', 'HEAD'), 'ref: refs/heads/main\n');
    }
    const limits = { usd: 10 };
    const states = await statesOf(usage, [
      { per: 'session', ...limits },
      { per: 'day', repo: 'Shop', ...limits },
      { per: 'week', issue: '#12', ...limits },
      { per: 'month', ...limits },
    ]);
    const sessions = () => Promise.resolve(new Map([['s1', { name: 'shop·login', issue: '#12' }]]));
    const named = async (call: object): Promise<string[]> =>
      (await limiting(states, JSON.stringify(call), { sessions })).map(
        ({ name }) => name.split(' ')[0] ?? '',
      );
    expect(await named({ session_id: 's1', cwd: folder })).to.deep.equal(['session', 'day', 'week', 'month']);
    expect(await named({ session_id: 's1', cwd: other })).to.deep.equal(['session', 'week', 'month']);
    expect(await named({ session_id: 's2', cwd: folder })).to.deep.equal(['day', 'month']);
    expect(await named({})).to.deep.equal(['month']);
  });

  it('deny a tool in the words of the hook', async () => {
    const usage = usageBox(box.path());
    usage.log(LOG, [spent('m1', 12)]);
    expect(JSON.parse(denial(await statesOf(usage, [{ per: 'day', usd: 10 }])))).to.deep.equal({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason:
          'A budget is used up: day budget 120% used: $12.00 of $10.00, most by shop·login ($12.00).',
      },
    });
  });
});
