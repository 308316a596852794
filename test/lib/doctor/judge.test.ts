import { expect } from 'chai';

import { judgeOwn, judgeTaken, judgeUsers } from '../../../src/lib/daemon/checks';
import { judgeCall } from '../../../src/lib/assistant/checks';
import { judgeJob, judgeLauncher } from '../../../src/lib/schedule/checks';
import { judgeDisk, judgeNode, judgeOffset, judgeSystem } from '../../../src/lib/doctor/machine';
import { chatCheck } from '../../../src/lib/notify/channels/chat';
import { judgeDesktop } from '../../../src/lib/notify/channels/desktop';
import { pushCheck } from '../../../src/lib/notify/channels/push';
import { telegramCheck } from '../../../src/lib/notify/channels/telegram';
import type { UrlAnswer } from '../../../src/lib/platform/net/fetch';
import { httpDeps } from '../../helpers/notify';
import type { NotifyChecked } from '../../../src/lib/notify/channels/channel';
import { judgeLabels, judgePrivacy, judgeRepository } from '../../../src/lib/work/checks';
import type { Finding } from '../../../src/lib/platform/check';
import type { JobStatus } from '../../../src/lib/schedule';

/** What doctor makes of what it was told; the asking itself is tested with the real things. */
describe('doctor judgements', () => {
  const said = (finding: Finding): string => `${finding.state}: ${finding.found}`;

  it('free space', () => {
    const of = (bytes: number, files: number | null = null): string =>
      said(judgeDisk({ bytes, files }, '/x'));
    expect(of(5e12)).to.equal('ok: 4656 GiB free on the disk that contains /x');
    expect(of(300 * 1024 * 1024)).to.match(/^ok: 300 MiB/);
    expect(of(200 * 1024 * 1024)).to.match(/^warning: 200 MiB/);
    expect(of(1024)).to.match(/^failed: 0 MiB/);
    expect(of(5e12, 3)).to.equal('failed: the disk that contains /x has no free inodes');
  });

  it('versions of Node.js', () => {
    for (const version of ['20.19.0', '20.20.1', '22.0.0', '100.1.2']) {
      expect(judgeNode('own', '/n', version), version).to.deep.include({ state: 'ok', found: 'own' });
    }
    for (const version of ['20.18.9', '18.20.4', '', 'garbage']) {
      expect(judgeNode('own', '/n', version).state, version).to.equal('warning');
    }
  });

  it('systems', () => {
    expect(said(judgeSystem('linux'))).to.equal('ok: Linux is supported');
    for (const [system, name] of [
      ['darwin', 'macOS'],
      ['win32', 'Windows'],
      ['freebsd', 'freebsd'],
    ] as const)
      expect(said(judgeSystem(system))).to.match(new RegExp(`^off: ${name}: experimental`));
  });

  it('another clock', () => {
    const of = (aheadSec: number): string =>
      said(judgeOffset(1e12, { host: 'h', ms: 1e12 - aheadSec * 1000 }, 'linux'));
    expect(of(0)).to.equal('ok: within 1 s of h');
    expect(of(-30)).to.equal('ok: within 30 s of h');
    expect(of(31)).to.equal('warning: 31 s ahead of h');
    expect(of(-3600)).to.equal('failed: 60 min behind h');
  });

  it('jobs', () => {
    const job: JobStatus = {
      job: 'tick',
      scheduler: 'systemd',
      installed: true,
      loaded: true,
      everySec: 120,
      lastRun: '2026-11-20T09:42:00.000Z',
      nextRun: '2026-11-20T09:44:00.000Z',
      lastExit: 0,
      missedPolls: 0,
      log: '/x.log',
    };
    const of = (more: Partial<JobStatus>): Finding =>
      judgeJob({ ...job, ...more }, (iso) => iso.slice(11, 16));
    expect(said(of({}))).to.equal('ok: installed in systemd, ran 09:42, next 09:44');
    expect(said(of({ lastRun: null, lastExit: null }))).to.equal(
      'ok: installed in systemd, no run yet, next 09:44',
    );
    expect(of({ installed: false, loaded: false })).to.deep.include({
      state: 'off',
      fix: 'steward install jobs',
    });
    expect(of({ warning: 'It is twice.', fix: 'steward install jobs' })).to.deep.equal({
      state: 'warning',
      found: 'It is twice.',
      fix: 'steward install jobs',
    });
    expect(of({ warning: 'It is gone.', broken: true, hint: 'Do that.' })).to.deep.equal({
      state: 'failed',
      found: 'It is gone.',
      hint: 'Do that.',
    });
  });

  it('what the jobs start', () => {
    const of = (code: number, stdout: string): Finding =>
      judgeLauncher({ code, stdout }, 'steward install jobs', (path) => path.startsWith('/there'));
    expect(said(of(0, '/there/node\n/there/run.js\n'))).to.equal('ok: /there/run.js with /there/node');
    expect(said(of(0, '"/there/node"\r\n"/there/run.js"\r\n'))).to.match(/^ok/);
    expect(of(127, '')).to.deep.include({ state: 'failed', fix: 'steward install jobs' });
    expect(said(of(0, '/there/node\n/away/run.js\n'))).to.equal(
      'failed: /away/run.js is missing, so each run fails',
    );
  });

  it('a call of a hook', () => {
    const result = {
      code: 0,
      signal: null,
      stdout: '{"matches":[]}',
      stderr: '',
      truncated: false,
      timedOut: false,
    };
    expect(said(judgeCall(result, 31.4))).to.equal('ok: a hook responded in 31 ms');
    expect(said(judgeCall(result, 900))).to.match(/^warning: a hook took 900 ms/);
    expect(said(judgeCall({ ...result, stdout: '' }, 5))).to.match(/^failed: .*no valid response/);
    expect(said(judgeCall({ ...result, code: 2 }, 5))).to.match(/^failed: a hook exited with code 2/);
    expect(said(judgeCall({ ...result, code: null, timedOut: true }, 5))).to.match(
      /^failed: a hook did not exit/,
    );
  });

  it('a port', () => {
    expect(said(judgeTaken(31_337, undefined))).to.match(
      /^warning: port 31337 is in use by another program, so/,
    );
    expect(said(judgeTaken(1, { pid: 7, program: 'nginx', uid: 0 }))).to.include(
      'in use by nginx (process 7)',
    );
    expect(said(judgeTaken(1, { pid: null, program: null, uid: 0 }))).to.include("another user's program");
    expect(judgeTaken(65_535, undefined).fix).to.equal('steward config set daemon.port 65534');
    const own = { pid: 7, url: 'http://127.0.0.1:1', port: 1, socket: '', version: '', startedAt: '' };
    expect(judgeOwn(own, undefined).state).to.equal('failed');
    expect(judgeOwn(own, { status: 401, text: '' }).state).to.equal('ok');
    expect(judgeOwn(own, { status: 200, text: '{"pid":7}' }).state).to.equal('ok');
    expect(judgeOwn(own, { status: 200, text: '{"pid":8}' }).state).to.equal('failed');
  });

  it('warns where other users of the machine cannot be told apart', () => {
    const usual = { requireToken: false, otherUsers: false, isLinux: true, canIdentify: true };
    const states = [
      usual,
      { ...usual, canIdentify: false },
      { ...usual, canIdentify: false, requireToken: true },
      { ...usual, canIdentify: false, otherUsers: true },
      { ...usual, canIdentify: false, isLinux: false },
    ].map((at) => judgeUsers(at).state);
    expect(states).to.deep.equal(['ok', 'warning', 'ok', 'ok', 'warning']);
  });

  it('a push server, a webhook, a bot and a message bus', async () => {
    const { deps } = httpDeps('https://h.example');
    const judged = async (
      check: typeof pushCheck,
      status: number,
      text = '',
    ): Promise<Finding | undefined> => {
      const askHost = (): Promise<UrlAnswer> => Promise.resolve({ status, text, headers: {} });
      const config = { settings: { notifications: deps.settings() } };
      const at = { online: true, config, secret: deps.secret, askHost } as unknown as NotifyChecked;
      return (await check.run(at as never))[0];
    };
    expect((await judged(pushCheck, 200, '{"success":true}'))?.state).to.equal('ok');
    expect((await judged(pushCheck, 200, '<html>'))?.state).to.equal('failed');
    expect(await judged(pushCheck, 403)).to.include({ state: 'failed', kind: 'auth' });
    expect((await judged(pushCheck, 429))?.state).to.equal('warning');
    expect((await judged(pushCheck, 502))?.state).to.equal('failed');
    for (const status of [200, 400, 405]) expect((await judged(chatCheck, status))?.state).to.equal('ok');
    for (const status of [401, 404, 410, 500])
      expect((await judged(chatCheck, status))?.state).to.equal('failed');
    expect((await judged(telegramCheck, 200))?.state).to.equal('ok');
    expect(await judged(telegramCheck, 404)).to.include({ state: 'failed', kind: 'auth' });
    const name = 'org.freedesktop.Notifications';
    expect(judgeDesktop([name], []).state).to.equal('ok');
    expect(judgeDesktop([], [name]).state).to.equal('ok');
    expect(judgeDesktop(['org.x'], []).state).to.equal('warning');
  });

  it('the privacy of a repository', () => {
    const seen = { repo: 'ann/work', verified: '09:42', visibility: 'public' };
    const of = (state: Parameters<typeof judgePrivacy>[0]): string => said(judgePrivacy(state, seen));
    expect(of('fresh')).to.equal('ok: ann/work is private (verified 09:42)');
    expect(of('due')).to.match(/^ok/);
    expect(of('expired')).to.match(/^warning/);
    expect(of('unverified')).to.match(/^failed/);
    expect(of('public')).to.equal('failed: ann/work is public (verified 09:42), so nothing is read or sent');
    expect(of('setup')).to.match(/^off/);
  });

  it('a repository and its labels', () => {
    const found = {
      id: 1,
      repo: 'ann/work',
      url: '',
      visibility: 'private',
      hasIssues: true,
      archived: false,
      canWrite: true,
    };
    const of = (more: Partial<typeof found>, id = 1): string[] =>
      judgeRepository({ ...found, ...more }, id).map(said);
    expect(of({})).to.deep.equal([
      'ok: ann/work is private, and the credential has write access to its issues',
    ]);
    expect(of({ visibility: 'internal' })[0]).to.match(/^failed: ann\/work is internal/);
    expect(of({ archived: true, hasIssues: false, canWrite: false })).to.have.length(3);
    expect(of({}, 2)[0]).to.match(/^failed: ann\/work now refers to a different repository/);
    expect(said(judgeLabels('ann/work', ['bug'], ['a'], 1))).to.match(
      /^failed: ann\/work has none of the labels/,
    );
    expect(said(judgeLabels('ann/work', ['Type:feature'], [], 1))).to.equal('ok: all 1 labels exist');
    const many = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect(said(judgeLabels('ann/work', ['Type:feature'], many, 7))).to.include(': a, b, c, d, e and 1 more');
  });
});
