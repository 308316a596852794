import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { ASSISTANTS } from '../../src/lib/assistant';
import type { Report } from '../../src/lib/report/model';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import { sessionKey } from '../../src/lib/sessions/session-key';
import type { Usage } from '../../src/lib/usage/rollup';
import { PAYLOADS, PLAYED_ID, PLAYED_SECRET, type Played } from '../contracts/assistant-payloads';
import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { mixedUsage } from '../helpers/mixed-usage';

/** The sessions of the other three still wait at the end of the day. */
const ENDED = ['codex', 'copilot', 'cursor'];

describe('a mixed day of six assistants (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let site: string;
  before(function () {
    if (process.platform === 'win32') this.skip();
    home = emptyHome();
    site = join(home.path, 'site');
    mkdirSync(site);
    spawnSync('git', ['-C', site, 'init', '-q', '-b', 'main']);
  });
  after(() => home?.remove());

  const run = async (...args: string[]) => {
    const result = await steward(args, { home: home.path });
    expect(result.code, result.stderr).to.equal(0);
    return result;
  };
  const play = (id: string, verb: string, payload: Played['payload']): void => {
    const shim = join(home.path, '.steward', 'bin', 'steward-hook');
    const here = 'workspace_roots' in payload ? { workspace_roots: [site] } : {};
    const place = 'cwd' in payload ? { cwd: site } : {};
    const { status, stderr } = spawnSync(shim, id === 'claude-code' ? [verb] : [verb, id], {
      env: cleanEnv(home.path),
      input: JSON.stringify({ ...payload, ...here, ...place }),
      encoding: 'utf8',
    });
    expect([status, stderr], `${id} ${verb}`).to.deep.equal([0, '']);
  };

  it('gives the sessions, the standup and the usage of each', async () => {
    await run('sense', 'init');
    await run('hooks', 'install', '--assistant', 'all');
    for (const { id, hooks } of ASSISTANTS) {
      const isEnd = ({ records }: Played): boolean => records.type === 'session-end';
      const calls = PAYLOADS[id].filter((call) => !isEnd(call));
      if (ENDED.includes(id)) calls.push(...PAYLOADS[id].filter(isEnd));
      for (const { event, payload } of calls)
        play(id, hooks.find((hook) => hook.event === event)?.verb ?? '', payload);
    }

    const { sessions } = jsonOf(await run('sessions', '--all', '--json')) as SessionsReport;
    const known = sessions.map(({ assistant, sessionIds, repo, status }) => [
      assistant,
      sessionIds,
      repo,
      status,
    ]);
    expect(known).to.have.deep.members(
      ASSISTANTS.map(({ id }) => [id, [PLAYED_ID], 'site', ENDED.includes(id) ? 'ended' : 'waiting']),
    );

    const at = new Date().toISOString();
    const expected = mixedUsage(home.path, PLAYED_ID, site, at);
    const usage = jsonOf(await run('usage', '--by', 'assistant', '--json')) as Usage;
    expect(usage.rows).to.have.deep.members(expected);
    const sum = (key: 'input' | 'output' | 'cacheRead') =>
      expected.reduce((total, row) => total + row[key], 0);
    const unpriced = expected
      .filter(({ cost }) => cost === null)
      .reduce((total, { input, output, cacheRead }) => total + input + output + cacheRead, 0);
    expect(usage.total).to.include({
      ...{ input: sum('input'), output: sum('output'), cacheRead: sum('cacheRead'), unpriced },
      cost: Math.round(expected.reduce((total, { cost }) => total + (cost ?? 0), 0) * 1e6) / 1e6,
    });
    const bySession = jsonOf(await run('usage', '--by', 'session', '--json')) as Usage;
    expect(bySession.rows.map(({ key }) => key)).to.have.members(
      expected.map(({ key }) => sessionKey(key, PLAYED_ID)),
    );
    const byRepo = jsonOf(await run('usage', '--by', 'repo', '--json')) as Usage;
    // The spans of Copilot have no folder.
    expect(byRepo.rows.map(({ key }) => key)).to.deep.equal(['site', 'unknown']);

    await run('sense', 'capture');
    const day = at.slice(0, 10);
    const standup = jsonOf(await run('standup', '--of', day, '--json')) as Report;
    expect(standup.sessions.count).to.equal(6);
    expect(standup.repos.map(({ repo, sessions: count }) => [repo, count])).to.deep.equal([['site', 6]]);
    const week = jsonOf(await run('week', '--json')) as Report;
    expect(week.usage?.total).to.deep.equal(usage.total);
    const log = readFileSync(join(home.path, '.steward', 'state', 'work-events.jsonl'), 'utf8');
    expect(log).not.to.include(PLAYED_SECRET);
    const calls = ASSISTANTS.flatMap(({ id }) => PAYLOADS[id]).length - (ASSISTANTS.length - ENDED.length);
    expect(log.split('\n').filter((line) => line !== '')).to.have.length(calls);
  });
});
