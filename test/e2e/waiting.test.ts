import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { SessionsReport } from '../../src/lib/sessions/rows';
import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { payloadOf, WAITING_ROWS, type WaitingRow } from '../helpers/waiting-rows';

/** The table runs against the built product and the installed shim. */
describe('who waits for you (built)', function () {
  this.timeout(300_000);
  let home: ReturnType<typeof emptyHome>;
  const idOf = (row: WaitingRow): string => `row-${WAITING_ROWS.indexOf(row)}`;

  function play(row: WaitingRow): void {
    for (const step of row.steps) {
      const shim = join(home.path, '.steward', 'bin', 'steward-hook');
      const args = row.assistant === 'claude-code' ? [step[0]] : [step[0], row.assistant];
      const input = JSON.stringify(payloadOf(row.assistant, idOf(row), row.mode, home.path, step));
      const options = { env: cleanEnv(home.path), input, encoding: 'utf8' as const };
      const { status, stderr } = spawnSync(shim, args, options);
      expect([status, stderr], `${row.assistant} ${row.title}`).to.deep.equal([0, '']);
    }
  }

  before(async function () {
    if (process.platform === 'win32') this.skip();
    home = emptyHome();
    const installed = await steward(['hooks', 'install', '--assistant', 'claude-code'], { home: home.path });
    expect(installed.code, installed.stderr).to.equal(0);
  });
  after(() => home?.remove());

  it(`says the truth after each of ${WAITING_ROWS.length} sequences`, async () => {
    expect(WAITING_ROWS.length).to.be.at.least(40);
    WAITING_ROWS.forEach(play);
    const list = jsonOf(await steward(['sessions', '--json'], { home: home.path })) as SessionsReport;
    const found = new Map(list.sessions.map((session) => [session.sessionIds.at(-1), session]));
    const named = ({ assistant, mode, title }: WaitingRow): string => `${assistant}, ${mode}: ${title}`;
    expect(
      WAITING_ROWS.map((row) => {
        const session = found.get(idOf(row));
        return [named(row), session?.status, session?.waitingFor ?? session?.activity ?? null];
      }),
    ).to.deep.equal(WAITING_ROWS.map((row) => [named(row), row.status, row.says]));
  });

  it('raises no alert in a storm of 1,000 calls that are approved automatically', () => {
    const spool = join(home.path, '.steward', 'state', 'spool');
    const alerts = (): string[] => readdirSync(spool).filter((name) => name.includes('.attention.'));
    const before = alerts();
    const step = (name: string, tool: string, at: number) =>
      ['tool', { hook_event_name: name, tool_name: tool, tool_input: {}, tool_use_id: `s${at}` }] as const;
    const calls = Array.from({ length: 500 }, (_, at) => {
      const tool = ['Bash', 'Read', 'Edit', 'mcp__memory__read'][at % 4] as string;
      return [step('PreToolUse', tool, at), step('PostToolUse', tool, at)];
    }).flat();
    const [row] = WAITING_ROWS;
    play({ ...(row as WaitingRow), mode: 'auto', steps: calls });
    expect(alerts().filter((name) => !before.includes(name))).to.deep.equal([]);
  });
});
