import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { deadReport } from '../../../../src/lib/platform/files/dead-letters';
import { leave, spoolStatus, type DrainResult } from '../../../../src/lib/sessions/spool';
import { promptWanted, drainCaptures, retryCaptures } from '../../../../src/lib/work/capture/deliver';
import { StewardError } from '../../../../src/lib/errors';
import type { SessionRules } from '../../../../src/lib/work/capture/session';
import { setUp } from '../../../../src/lib/work/setup';
import { workStatus } from '../../../../src/lib/work/status';
import { retryText } from '../../../../src/lib/work/view-results';
import { readReasons, type WaitReason } from '../../../../src/lib/work/capture/waiting';
import { startGitHub, type Fault, type GitHub } from '../../../helpers/github';
import { captureOf, capturesLogged, readyWorld, type WorkWorld } from '../../../helpers/work';
import { issuesOf } from '../../../helpers/work-kill';

describe('delivery of captures', function () {
  this.timeout(60_000);
  let github: GitHub;
  let world: WorkWorld;
  let deps: SessionRules;
  beforeEach(async () => {
    github = await startGitHub();
    world = await readyWorld(github);
    deps = captureOf(world, { 'fix-login': 'uuid-1' });
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  const spool = () => ({
    clock: world.deps.clock,
    machineId: world.deps.machineId,
    area: world.at.area,
  });
  const run = (): Promise<DrainResult> => drainCaptures(deps);
  const end = (slug: string | null = null, session = 'uuid-1'): void => {
    leave(spool(), { kind: 'session-ended', session, slug, transcript: null });
  };
  const ask = (text: string, key = 'k1', kind = 'reminder'): void => {
    leave(spool(), { kind: 'prompt-matched', session: 's', slug: null, transcript: null, capture: { kind, text, key } });
  }; // prettier-ignore
  const artifact = (head: Record<string, string>, slug = 'fix-login'): string => {
    const folder = join(world.at.area.sessions, slug);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'ISA.md');
    const lines = Object.entries(head).map(([key, value]) => `${key}: ${value}`);
    writeFileSync(path, `---\n${lines.join('\n')}\n---\n# Notes\n`);
    return path;
  };
  const labelsOf = async (): Promise<string[][]> =>
    (await issuesOf(github, 'ann/work')).map(({ labels }) => labels.map(({ name }) => name).sort());

  it('creates one issue for a session at execute, and writes its number into the session file', async () => {
    const path = artifact({ task: 'Fix the login', phase: 'execute', effort: 'E4', project: 'website' });
    end();
    expect(await run()).to.include({ done: 1, later: 0, failed: 0 });
    const [issue] = await issuesOf(github, 'ann/work');
    expect(issue?.title).to.equal('[Core] Fix the login [slug:fix-login]');
    expect(await labelsOf()).to.deep.equal([
      ['Agent:nova', 'Priority:P1', 'Property:website', 'Status:in-progress', 'Type:feature', 'core-sync'],
    ]);
    expect(readFileSync(path, 'utf8')).to.match(
      /\ngithub_issue: 1\ngithub_issue_url: http.*\n---\n# Notes\n$/,
    );
    await github.api('POST', '/repos/ann/work/issues/1/labels', { labels: ['mine'] });
    artifact({ task: 'Another name', phase: 'complete' });
    end();
    expect(await run()).to.include({ done: 1 });
    expect((await labelsOf())[0])
      .to.include.members(['Status:done', 'mine'])
      .and.not.include('Status:in-progress');
    const all = await issuesOf(github, 'ann/work');
    expect(all.map(({ title }) => title)).to.deep.equal(['[Core] Fix the login [slug:fix-login]']);
  });

  it('sends no request for sessions that do not qualify', async () => {
    artifact({ task: 'Early', phase: 'plan' });
    end();
    artifact({ task: 'Native', mode: 'native' }, 'alone');
    end('alone', 'x');
    artifact({ task: 'Mine', phase: 'execute' }, 'secret');
    writeFileSync(join(world.at.area.sessions, 'secret', 'RESTRICTED.md'), '');
    end('secret', 'x');
    end('none', 'x');
    expect(await run()).to.include({ done: 4 });
    expect(github.seen).to.deep.equal([]);
  });

  it('adds the whole prompt to the body only while configured', async () => {
    const say = (key: string): void => {
      const capture = { kind: 'queue', text: `thing ${key}`, key, prompt: `queue thing ${key} for later\nALL OF IT` };
      leave(spool(), { kind: 'prompt-matched', session: 's', slug: null, transcript: null, capture });
    }; // prettier-ignore
    const bodies = async (): Promise<string[]> =>
      (await issuesOf(github, 'ann/work')).map(({ body }) => body ?? '').sort();
    say('k1');
    await run();
    expect(await bodies()).to.deep.equal(['Captured from a prompt.\n\n<!-- steward id=k1 -->']);
    expect(github.seen.map(({ body }) => body).join()).to.not.include('ALL OF IT');
    await world.set('WORK.CAPTURE_PROMPT', 'whole');
    say('k2');
    await run();
    expect((await bodies())[1]).to.equal(
      'Captured from a prompt:\n\n```text\nqueue thing k2 for later\nALL OF IT\n```\n\n<!-- steward id=k2 -->',
    );
    // It waits, and meanwhile the person has thought better of it.
    say('k3');
    await world.set('WORK.CAPTURE_PROMPT', 'line');
    await run();
    expect((await bodies()).filter((body) => body.includes('ALL OF IT'))).to.have.length(1);
  });

  it('shares one issue between two session files with one slug', async () => {
    const paths = ['fix-login', 'copy'].map((folder) => artifact({ slug: 'fix-login', task: 'Fix it', phase: 'execute' }, folder)); // prettier-ignore
    end('fix-login', 'x-1');
    end('copy', 'x-2');
    expect(await run()).to.include({ done: 2 });
    expect((await issuesOf(github, 'ann/work')).map(({ title }) => title)).to.deep.equal([
      '[Core] Fix it [slug:fix-login]',
    ]);
    for (const path of paths) expect(readFileSync(path, 'utf8')).to.include('\ngithub_issue: 1\n');
    artifact({ slug: 'fix-login', task: 'Fix it', phase: 'verify', github_issue: '1' }, 'copy');
    end('copy', 'x-2');
    await run();
    expect((await labelsOf())[0])
      .to.include('Status:in-review')
      .and.not.include('Status:in-progress');
    // What is no slug names nobody: then it is the folder.
    artifact({ slug: '../etc', task: 'Other', phase: 'execute' }, 'other');
    end('other', 'x-3');
    await run();
    expect((await issuesOf(github, 'ann/work')).map(({ title }) => title)).to.include(
      '[Core] Other [slug:other]',
    );
  });

  it('omits and logs labels that the repository lacks', async () => {
    await github.api('DELETE', '/repos/ann/work/labels/Priority:P1');
    artifact({ task: 'Fix the login', phase: 'execute', effort: 'E4' });
    end();
    expect(await run()).to.include({ done: 1 });
    expect((await labelsOf())[0])
      .to.include('Status:in-progress')
      .and.not.include('Priority:P1');
    expect(capturesLogged(world).map(({ what, labels }) => [what, labels])).to.deep.equal([
      ['labels-missing', ['Priority:P1']],
    ]);
  });

  it('creates no mention or link from a session file', async () => {
    artifact({ task: '"Ask @ann about #1, see https://example.com"', phase: 'execute', project: '"@shop"' });
    end();
    await run();
    const { body } = (await github.api('GET', '/repos/ann/work/issues/1')) as { body: string };
    expect(body).to.match(/^Task: `Ask @ann about #1, see https:\/\/example\.com`$/m);
    expect(body).to.match(/^Project: `@shop`$/m);
  });

  it('reports unreadable entries on a retry', async () => {
    const { deadFolder } = spoolStatus(world.at.area.spool);
    mkdirSync(deadFolder, { recursive: true });
    writeFileSync(join(deadFolder, '20261120T081500123Z-0123456789ab.prompt-matched.json'), '{');
    const result = await retryCaptures(deps);
    expect(result).to.include({ retried: 0, unreadable: 1, deadFolder });
    expect(retryText(result)).to.match(
      /^Nothing to retry\.\n1 entry cannot be read\. Remove the damaged files from .*dead/,
    );
  });

  it('captures a native session with a file, unless disabled', async () => {
    artifact({ task: 'Sketch', mode: 'native' });
    writeFileSync(join(world.at.area.sessions, 'fix-login', 'sketch.md'), 'x');
    await world.set('WORK.CAPTURE_NATIVE', false);
    end();
    await run();
    expect(await issuesOf(github, 'ann/work')).to.deep.equal([]);
    await world.set('WORK.CAPTURE_NATIVE', true);
    end();
    await run();
    expect((await issuesOf(github, 'ann/work'))[0]?.title).to.equal('[Native] Sketch [slug:fix-login]');
    expect(await labelsOf()).to.deep.equal([
      ['Agent:nova', 'Priority:P3', 'Status:queued', 'Type:queue', 'auto-native'],
    ]);
  });

  it('waits offline and creates one issue later', async () => {
    ask('call Ann');
    github.fault = () => 'reset';
    for (let attempt = 0; attempt < 8; attempt += 1) expect(await run()).to.include({ later: 1, dead: 0 });
    expect(spoolStatus(world.at.area.spool)).to.include({ waiting: 1, dead: 0 });
    github.fault = () => undefined;
    expect(await run()).to.include({ done: 1 });
    expect((await issuesOf(github, 'ann/work')).map(({ title }) => title)).to.deep.equal([
      '[Reminder] call Ann',
    ]);
  });

  it('creates no second issue after a lost response or for repeated words', async () => {
    ask('call Ann');
    let dropped = false;
    github.fault = ({ method, path }) => {
      if (dropped || method !== 'POST' || !path.endsWith('/issues')) return undefined;
      dropped = true;
      return 'drop';
    };
    await run();
    ask('call Ann');
    while (spoolStatus(world.at.area.spool).waiting > 0) await run();
    expect(await issuesOf(github, 'ann/work')).to.have.length(1);
  });

  it('waits while the repository cannot be verified, and sends later', async () => {
    ask('call Ann');
    github.fault = () => ({ status: 404, body: { message: 'Not Found' } });
    for (const hours of [0, 13, 25]) {
      world.ahead(hours * 3_600_000);
      expect(await run()).to.include({ later: 1, done: 0 });
    }
    github.fault = () => undefined;
    expect(await run()).to.include({ done: 1 });
    expect(await issuesOf(github, 'ann/work')).to.have.length(1);
  });

  it('counts waiting captures by reason', async () => {
    const reasons = async (): Promise<[WaitReason, number][]> => {
      await run();
      return workStatus(world.deps).waiting.map(({ reason, count }) => [reason, count]);
    };
    ask('call Ann');
    ask('call Ben', 'k2');
    const [untried] = workStatus(world.deps).waiting;
    expect(untried).to.include({
      reason: 'untried',
      count: 2,
      since: spoolStatus(spool().area.spool).oldest,
    });
    const { host } = world.deps;
    const noCredential = (): Promise<never> =>
      Promise.reject(new StewardError('auth', 'There is no credential.'));
    world.deps.host = noCredential;
    expect(await reasons()).to.deep.equal([['signed-out', 2]]);
    world.deps.host = host;
    const limited = { status: 403, headers: { 'retry-after': '60' }, body: { message: 'rate limit' } };
    const cases: [WaitReason, Fault][] = [
      ['signed-out', { status: 401, body: { message: 'Bad credentials' } }],
      ['no-access', { status: 403, body: { message: 'Resource not accessible' } }],
      ['limited', limited],
      ['offline', 'reset'],
      ['offline', { status: 503 }],
      ['refused', { status: 404, body: { message: 'Not Found' } }],
    ];
    for (const [reason, fault] of cases) {
      github.fault = () => fault;
      expect(await reasons(), JSON.stringify(fault)).to.deep.equal([[reason, 2]]);
    }
    github.fault = () => undefined;
    for (const { name } of (await github.api('GET', '/repos/ann/work/labels?per_page=100')) as {
      name: string;
    }[])
      await github.api('DELETE', `/repos/ann/work/labels/${encodeURIComponent(name)}`);
    expect(await reasons()).to.deep.equal([['no-labels', 2]]);
    await world.set('WORK.privacy', { ...world.deps.workRepo().privacy, verifiedPrivate: false });
    expect(await reasons()).to.deep.equal([['unverified', 2]]);
    await setUp(world.deps, { repo: 'ann/work', create: false });
    expect(await reasons()).to.deep.equal([]);
    expect(readReasons(world.at.area.work.waiting).size).to.equal(0);
    expect(await issuesOf(github, 'ann/work')).to.have.length(2);
  });

  it('sends nothing to a repository that became public', async () => {
    await github.api('PATCH', '/repos/ann/work', { visibility: 'public', private: false });
    ask('call Ann');
    expect(await run()).to.include({ done: 0, later: 0, dead: 1 });
    expect(deadReport(spoolStatus(world.at.area.spool).deadFolder).reasons).to.deep.equal([
      { reason: 'the work repository is not private', count: 1 },
    ]);
    expect(await issuesOf(github, 'ann/work')).to.deep.equal([]);
    ask('call Ben', 'k2');
    github.seen.length = 0;
    await run();
    expect(github.seen).to.deep.equal([]);
    expect(capturesLogged(world).map(({ what }) => what)).to.include('capture-dropped');
  });

  it('reads a time relative to the prompt, and omits a past one', async () => {
    const atMs = Date.parse('2026-11-20T08:00:00Z');
    const said = { atMs, zone: 'Europe/Berlin' };
    const key = 'k';
    expect(await promptWanted({ kind: 'reminder', text: 'call Ann tomorrow at 9', key }, said)).to.deep.include({
      text: 'call Ann', due: '2026-11-21T08:00:00.000Z', labels: ['Type:reminder', 'Status:queued'],
    }); // prettier-ignore
    const cut = await promptWanted({ kind: 'reminder', text: 'pay the bill today', key }, said);
    expect(cut).to.deep.include({ text: 'pay the bill' });
    expect(cut.due).to.match(/T1[67]:00:00\.000Z$/);
    expect(cut.body).to.include('\npay the bill today\n');
    const over = await promptWanted({ kind: 'reminder', text: 'say 2 hours ago', key }, said);
    expect(over).to.deep.include({ text: 'say 2 hours ago' }).and.not.have.property('due');
  });
});
