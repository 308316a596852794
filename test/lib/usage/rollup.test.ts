import { expect } from 'chai';

import { writeDay } from '../../../src/lib/usage/days';
import type { DatedRow } from '../../../src/lib/usage/rollup';
import { unpricedModels, usageBy } from '../../../src/lib/usage/rollup';
import { priceRows, pricesText } from '../../../src/lib/usage/price-list';
import { pricesWith, readTable, withTier } from '../../../src/lib/usage/prices';
import { scratch } from '../../helpers/scratch';
import { usageCsv, usageText, type UsageReport } from '../../../src/lib/usage/view';

const row = (more: Partial<DatedRow> = {}): DatedRow => ({
  ...{ day: '2026-11-20', assistant: 'claude-code', session: 's1', repo: 'shop', model: 'claude-opus-4-8' },
  ...{ input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, cost: 0 },
  ...more,
});
const prices = pricesWith({});

describe('summing usage (lib)', () => {
  const box = scratch();

  it('prices each kind of token: writes to the cache 1.25 times, for an hour twice, reads a tenth', () => {
    const cost = (more: Partial<DatedRow>): number | null => usageBy([row({ input: 0, ...more })], 'day', prices).total.cost; // prettier-ignore
    expect(cost({ input: 1_000_000 })).to.equal(5);
    expect(cost({ output: 1_000_000 })).to.equal(25);
    expect(cost({ cacheRead: 1_000_000 })).to.equal(0.5);
    expect(cost({ cacheWrite: 1_000_000 })).to.equal(6.25);
    expect(cost({ cacheWrite: 1_000_000, cacheWrite1h: 1_000_000 })).to.equal(10);
  });

  it('finds a model with its date and its provider, and prefers your prices', () => {
    const own = pricesWith({ 'claude-opus-4-8': { input: 1, output: 2 } });
    expect(usageBy([row({ model: 'claude-opus-4-8-20260701' })], 'day', prices).total.cost).to.equal(5);
    expect(usageBy([row({ model: 'anthropic/claude-opus-4-8' })], 'day', prices).total.cost).to.equal(5);
    expect(usageBy([row()], 'day', own).total.cost).to.equal(1);
  });

  it('never takes an unknown price for 0', () => {
    const unknown = row({ model: 'new-model', session: 's2' });
    const usage = usageBy([unknown], 'model', prices);
    expect(usage.rows[0]).to.include({ key: 'new-model', cost: null });
    expect(usage.total).to.include({ cost: null, unpriced: 1_000_000 });
    const mixed = usageBy([row(), unknown], 'session', prices);
    expect(mixed.rows.map(({ key, cost }) => [key, cost])).to.deep.equal([
      ['s1', 5],
      ['s2', null],
    ]);
    expect(mixed.total).to.include({ cost: 5, unpriced: 1_000_000 });
    expect(unpricedModels([row(), unknown], prices)).to.deep.equal(['new-model']);
    expect(unpricedModels([row({ model: 'constructor' })], prices)).to.deep.equal(['constructor']);
  });

  it('finds a model with its provider or date, and charges cached input by its own price', () => {
    const cost = (model: string, more: Partial<DatedRow> = {}): number | null =>
      usageBy([row({ model, ...more })], 'model', pricesWith({})).total.cost;
    expect(cost('openai/gpt-5.3-codex')).to.equal(1.75);
    expect(cost('gpt-5-2025-08-07')).to.equal(1.25);
    expect(cost('claude-haiku-4-5-20251001')).to.equal(1);
    expect(cost('gpt-5.3-codex', { input: 0, cacheRead: 1_000_000 })).to.equal(0.175);
    expect(cost('claude-opus-5-5', { input: 0, cacheRead: 1_000_000 })).to.equal(0.2);
    // Its price depends on the length of the prompt.
    expect(cost('gpt-5.5')).to.equal(null);
  });

  it('charges a request above a tier by its price, and shows the model once', () => {
    const own = pricesWith({ m: { input: 1, output: 2, cacheRead: 0.5, above: { '200k': { input: 3 } } } });
    const million = [1_000_000, 0, 0, 0, 0, 0] as const;
    const sizes = [
      [200_000, 9_999_999, 0, 0, 0, 0],
      [100_000, 0, 100_000, 1, 0, 0],
      [300_000, 0, 0, 0, 0, 0],
    ] as const;
    expect(sizes.map((amounts) => withTier('m', amounts))).to.deep.equal([
      'm (>128k)',
      'm (>200k)',
      'm (>272k)',
    ]);
    const rows = [row({ model: 'm' }), row({ model: 'm (>200k)' }), row({ model: 'm (>512k)', cacheRead: 1_000_000 })]; // prettier-ignore
    expect(withTier('m', million)).to.equal('m (>512k)');
    const usage = usageBy(rows, 'model', own);
    expect(usage.rows.map(({ key, cost }) => [key, cost])).to.deep.equal([['m', 7.5]]);
    expect(usageBy([row({ model: 'x/m (>128k)' })], 'model', own).total.cost).to.equal(1);
    expect(unpricedModels([row({ model: 'n (>200k)' })], own)).to.deep.equal(['n']);
  });

  it('lists the prices, used models first, with tiers and where each is from', () => {
    const table = readTable('/nowhere');
    const mine = {
      'gpt-5': { input: 9, output: 9 },
      m: { input: 1, output: 2, above: { '200k': { input: 3 } } },
    };
    const days = box.path('usage');
    const used = ['new-model (>200k)', 'claude-opus-4-8-20260701'];
    writeDay(days, '2026-11-20', used.map((model) => row({ model }))); // prettier-ignore
    const deps = { days, table, prices: pricesWith(mine, table) };
    const period = { from: '2026-11-01', to: '2026-11-20' };
    const rows = priceRows(deps, period);
    expect(rows.slice(0, 2)).to.deep.equal([
      {
        ...{
          model: 'claude-opus-4-8',
          input: 5,
          output: 25,
          cacheRead: 0.5,
          cacheWrite: 6.25,
          cacheWrite1h: 10,
        },
        ...{ tiers: [], isUsed: true, source: 'steward', asOf: '2026-09-30' },
      },
      {
        ...{
          model: 'new-model',
          input: null,
          output: null,
          cacheRead: null,
          cacheWrite: null,
          cacheWrite1h: null,
        },
        ...{ tiers: [], isUsed: true, source: null, asOf: null },
      },
    ]);
    const shown = priceRows(deps, period, 'GPT-5').map(({ model, source }) => `${model} ${source}`);
    expect(shown.slice(0, 2)).to.deep.equal(['gpt-5 usage.prices', 'gpt-5-codex steward']);
    const at = (columns: number): string[] =>
      pricesText(rows, deps, { columns, color: false, unicode: true, isTTY: true }).split('\n');
    const wide = at(80);
    expect(wide[1]).to.match(/^claude-opus-4-8 \* +5 +25 +0\.5 +6\.25 +10 +2026-09-30$/);
    expect(wide[2]).to.match(/^new-model \* +unknown +unknown +unknown +unknown +unknown$/);
    expect(wide.join('\n')).to.match(
      /^m +1 +2 +0\.1 +1\.25 +2 +yours\n {2}above 200k +3 +2 +0\.3 +3\.75 +6$/m,
    );
    for (const line of at(40)) expect(line.length, line).to.be.at.most(40);
  });

  it('tells apart two sessions with the same id', () => {
    const rows = [row(), row({ assistant: 'codex' })];
    expect(usageBy(rows, 'session', prices).rows.map(({ key }) => key)).to.deep.equal(['codex:s1', 's1']);
  });

  it('takes the cost that an assistant reports where the table has none', () => {
    expect(usageBy([row({ model: 'new-model', cost: 0.25 })], 'day', prices).total.cost).to.equal(0.25);
    expect(usageBy([row({ cost: 0.25 })], 'day', prices).total.cost).to.equal(5);
  });

  it('orders days by date and others by cost, and has exactly the documented keys', () => {
    const rows = [row({ day: '2026-11-20' }), row({ day: '2026-11-19', repo: null, output: 9 })];
    expect(usageBy(rows, 'day', prices).rows.map(({ key }) => key)).to.deep.equal([
      '2026-11-19',
      '2026-11-20',
    ]);
    const byRepo = usageBy(rows, 'repo', prices);
    expect(byRepo.rows.map(({ key }) => key)).to.deep.equal(['unknown', 'shop']);
    expect(byRepo.rows[0]).to.have.all.keys('key', 'input', 'output', 'cacheRead', 'cacheWrite', 'cost');
    expect(byRepo.total).to.have.all.keys('input', 'output', 'cacheRead', 'cacheWrite', 'cost', 'unpriced');
    expect(usageBy([], 'day', prices).total).to.include({ cost: 0, unpriced: 0 });
  });

  describe('as text', () => {
    const report = (more: Partial<UsageReport> = {}): UsageReport => ({
      usage: usageBy([row(), row({ model: 'new-model', day: '2026-11-19' })], 'day', prices),
      ...{
        by: 'day',
        period: { from: '2026-11-14', to: '2026-11-20' },
        sources: [{ assistant: 'codex', name: 'Codex', places: ['/logs'], files: 1 }],
        limits: ['Codex: 5 h 81% until 18:00'],
        notes: [],
      },
      ...{ unpriced: ['new-model'], pricesAsOf: '2026-09-30', names: new Map() },
      ...more,
    });
    const terminal = (columns: number) => ({ columns, color: false, unicode: true, isTTY: true }); // prettier-ignore

    it('names what is not known, the limits, and the date of the prices', () => {
      const lines = usageText(report(), terminal(90)).split('\n');
      expect(lines[0]).to.match(/^day +input +output +cache read +cache write +cost$/);
      expect(lines[1]).to.match(/^2026-11-19 +1\.00M +0 +0 +0 +unknown$/);
      expect(lines[3]).to.match(/^total +2\.00M +0 +0 +0 +\$5\.00$/);
      expect(lines.join('\n')).to.include('Codex: 5 h 81% until 18:00');
      expect(lines.join('\n')).to.include('Unknown price: new-model (1.00M tokens not included in the cost)');
      expect(lines.join('\n')).to.include('Cost at API prices as of 2026-09-30');
    });

    it('fits into 40 columns', () => {
      const names = new Map([['s1', { name: 'a long name of a session that does not fit' }]]);
      const usage = usageBy([row()], 'session', prices);
      const text = usageText(report({ usage, by: 'session', names }), terminal(40));
      for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(40);
      expect(text).to.include('a long');
    });

    it('uses the room that short numbers leave for the names', () => {
      const model = 'a-model-with-a-very-long-name-1';
      const usage = usageBy([row({ model })], 'model', prices);
      expect(usageText(report({ usage, by: 'model' }), terminal(80))).to.include(`${model} `);
    });

    it('says that no limits were reported, unless usage is off', () => {
      const none = 'Limits: none reported by your assistants.';
      expect(usageText(report({ limits: [] }), terminal(80))).to.include(`\n\n${none}\n`);
      expect(usageText(report(), terminal(80))).to.not.include(none);
      const off = usageText(report({ limits: [], sources: [] }), terminal(80));
      expect(off).to.include('\n\nUsage is off. ').and.to.not.include(none);
    });

    it('says what will be here while there is nothing', () => {
      const empty = usageBy([], 'day', prices);
      const sources = [
        { assistant: 'codex', name: 'Codex', places: ['/home/ann/.codex/sessions'], files: 0 },
      ];
      const text = usageText(report({ usage: empty, sources, limits: [], unpriced: [] }), terminal(80));
      expect(text).to.include('No assistant logs found in:\n  Codex: /home/ann/.codex/sessions');
      const found = usageText(
        report({ usage: empty, sources: [{ ...sources[0]!, files: 2 }] }),
        terminal(80),
      );
      expect(found).to.include('No usage from 2026-11-14 to 2026-11-20. Logs found: Codex.');
      expect(usageText(report({ usage: empty, sources: [] }), terminal(80))).to.include('usage.enabled true');
    });

    it('writes CSV with an empty cell for an unknown cost', () => {
      const usage = usageBy([row({ model: '=cmd()' })], 'model', prices);
      expect(usageCsv({ usage })).to.equal(
        "key,input,output,cacheRead,cacheWrite,cost\r\n'=cmd(),1000000,0,0,0,\r\n",
      );
    });
  });
});
