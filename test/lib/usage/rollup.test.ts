import { expect } from 'chai';

import type { DatedRow } from '../../../src/lib/usage/rollup';
import { unpricedModels, usageBy } from '../../../src/lib/usage/rollup';
import { pricesWith } from '../../../src/lib/usage/prices';
import { usageCsv, usageText, type UsageReport } from '../../../src/lib/usage/view';

const row = (more: Partial<DatedRow> = {}): DatedRow => ({
  ...{ day: '2026-11-20', assistant: 'claude-code', session: 's1', repo: 'shop', model: 'claude-opus-4-8' },
  ...{ input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, cost: 0 },
  ...more,
});
const prices = pricesWith({});

describe('summing usage (lib)', () => {
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
      expect(usageText(report({ limits: [], sources: [] }), terminal(80))).to.not.include(none);
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
