import { expect } from 'chai';

import { defaultConfig } from '../../../src/lib/config/load';
import { StewardError } from '../../../src/lib/errors';
import {
  failed,
  NOT_CHECKED,
  off,
  ok,
  warning,
  type Check as CheckOf,
  type Finding,
} from '../../../src/lib/platform/check';
import { exitCodeOf, reportOf, runChecks, WAITS, type Found } from '../../../src/lib/doctor/run';
import { doctorText } from '../../../src/lib/doctor/view';
import { testArea, type TestArea } from '../../helpers/area';

type Check = CheckOf<{ config: object }>;

describe('doctor checks', () => {
  let at: TestArea;
  beforeEach(() => {
    at = testArea();
  });
  afterEach(() => at.remove());

  // None of these checks looks at it.
  const context = {};
  const check = (id: string, run: Check['run'], more: Partial<Check> = {}): Check =>
    ({ id, title: id, needsConfig: false, run, ...more }) as Check;
  const states = (found: readonly Found[]): string[] =>
    found.map(({ row }) => `${row.id} ${row.state} ${row.found}`);

  it('run concurrently, and report in their own order', async () => {
    let running = 0;
    let most = 0;
    const checks = Array.from({ length: 20 }, (_, n) =>
      check(`c${n}`, async () => {
        running += 1;
        most = Math.max(most, running);
        for (let turn = 0; turn < 20 - n; turn += 1) await Promise.resolve();
        running -= 1;
        return [ok(`${n}`)];
      }),
    );
    const begun: string[] = [];
    const found = await runChecks(checks, context, undefined, (title) => begun.push(title));
    expect(states(found)).to.deep.equal(checks.map(({ id }, n) => `${id} ok ${n}`));
    expect(begun).to.have.length(20);
    expect(most).to.be.within(2, 6);
  });

  it('time out without delaying the others', async () => {
    const checks = [
      check('hangs', () => new Promise<Finding[]>(() => undefined)),
      check('works', () => [ok('fine')]),
    ];
    expect(states(await runChecks(checks, context, undefined, undefined, 20))).to.deep.equal([
      'hangs failed no response within 0 s',
      'works ok fine',
    ]);
  });

  it('turn an error into a line, and a fault into one that says so', async () => {
    const checks = [
      check('known', () => {
        throw new StewardError('auth', 'No.', { hint: 'Log in.' });
      }),
      check('fault', () => Promise.reject(new TypeError('x is undefined'))),
    ];
    const found = await runChecks(checks, context, undefined);
    expect(found.map(({ row, kind }) => [row.state, row.hint, kind])).to.deep.equal([
      ['failed', 'Log in.', 'auth'],
      ['failed', 'This is a bug in steward.', 'internal'],
    ]);
  });

  it('wait for the configuration where they need it', async () => {
    const needs = check('needs', () => [ok('looked')], { needsConfig: true });
    expect(states(await runChecks([needs], context, undefined))).to.deep.equal([`needs off ${WAITS}`]);
    const config = defaultConfig(at.area, at.home);
    expect(states(await runChecks([needs], context, config))).to.deep.equal(['needs ok looked']);
  });

  describe('their exit code', () => {
    const found = (kinds: ('ok' | 'warning' | NonNullable<Found['kind']>)[]): Found[] =>
      kinds.map((kind) => {
        const state = kind === 'ok' || kind === 'warning' ? kind : 'failed';
        return {
          row: { id: 'x', part: 'machine', title: 'x', state, found: 'x', fix: null, hint: null },
          kind: kind === 'ok' || kind === 'warning' ? undefined : kind,
        };
      });
    const cases: [Parameters<typeof found>[0], strict: boolean, code: number][] = [
      [[], false, 0],
      [['ok', 'warning'], false, 0],
      [['ok', 'warning'], true, 8],
      [['ok'], true, 0],
      [['auth', 'warning'], false, 4],
      [['auth', 'unavailable'], false, 8],
      [['not_found'], false, 8],
      [['unavailable', 'config', 'auth'], false, 3],
    ];
    for (const [kinds, strict, code] of cases) {
      it(`is ${code} for ${kinds.join(', ') || 'nothing'}${strict ? ', strictly' : ''}`, () => {
        expect(exitCodeOf(found(kinds), strict)).to.equal(code);
      });
    }
  });

  describe('as a person reads them', () => {
    const text = async (
      checks: Check[],
      more: Partial<Parameters<typeof doctorText>[1]> = {},
    ): Promise<string> =>
      doctorText(reportOf(await runChecks(checks, context, undefined)), {
        columns: 60,
        color: false,
        unicode: true,
        online: false,
        ...more,
      });

    it('have a line each, with what mends them, which is never broken', async () => {
      const fix = `steward config set sense.repos '${'~/a/long/path,'.repeat(8)}'`;
      expect(
        await text([
          check('a.one', () => [ok('all is well', { fix: 'not shown' })]),
          check('a.two', () => [
            failed('words that are more than fit into one line of this terminal', { hint: 'Do this:', fix }),
          ]),
          check('a.three', () => [
            warning('esc \u001b[31m /a/path/that/is/longer/than/the/whole/line/of/the/terminal/is'),
          ]),
        ]),
      ).to.equal(
        [
          'ok       a.one  all is well',
          'failed   a.two  words that are more than fit into one line',
          '         of this terminal',
          '         Do this:',
          `         ${fix}`,
          'warning  a.three  esc',
          '         /a/path/that/is/longer/than/the/whole/line/of/the/terminal/is',
          '',
          '1 failed · 1 warning · 1 ok',
        ].join('\n'),
      );
    });

    it('are one line where a part says the same throughout', async () => {
      const same = (): ReturnType<typeof off>[] => [off('not set up', { fix: 'steward x' })];
      const lines = (await text([check('machine.a', same), check('machine.b', same)])).split('\n');
      expect(lines).to.deep.equal(['off      machine  not set up', '         steward x', '', '2 off']);
    });

    it('say how to have other hosts asked, where some were not', async () => {
      const checks = [check('a', () => [off(NOT_CHECKED)])];
      expect(await text(checks)).to.include('steward doctor --online');
      expect(await text(checks, { online: true })).not.to.include('steward doctor --online');
    });

    it('have colour for what needs a hand only', async () => {
      const checks = [check('a', () => [ok('–')]), check('b', () => [failed('x')])];
      const colored = await text(checks, { color: true });
      expect(colored).to.include('\u001b[35mfailed\u001b[39m');
    });
  });
});
