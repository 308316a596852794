import { expect } from 'chai';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { patient, type Patient } from '../helpers/doctor';
import { closeServer, startGitHub, type GitHub } from '../helpers/github';
import { script } from '../helpers/speech';

/** Services of other hosts: each is here a server of this machine. */
describe('doctor and other hosts (built)', function () {
  this.timeout(120_000);
  let at: Patient;
  beforeEach(() => {
    at = patient();
  });
  afterEach(() => at.remove());

  describe('push and chat', () => {
    let server: Server;
    let url: string;
    let asked: { method: string | undefined; path: string | undefined; authorization: string | undefined }[];
    let reply: { status: number; body: string };
    beforeEach(async () => {
      asked = [];
      reply = { status: 200, body: '{"success":true}' };
      server = createServer((request, response) => {
        asked.push({
          method: request.method,
          path: request.url,
          authorization: request.headers.authorization,
        });
        response.writeHead(reply.status).end(reply.body);
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => closeServer(server));

    it('checks with the push server whether the topic may be used, only if allowed, and publishes nothing', async () => {
      const off = await at.expectRow('notify.push', 'off', /no topic is set/);
      expect(off.fix).to.match(
        /^steward config set notifications\.push\.topic "steward-\$\(openssl rand -hex 16\)"$/,
      );
      at.write(
        '.steward/settings.json',
        JSON.stringify({ notifications: { push: { topic: 'hush-1', token: 'tk_secret', server: url } } }),
      );
      await at.expectRow('notify.push', 'off', /not checked: add --online/);
      expect(asked).to.deep.equal([]);
      await at.expectRow('notify.push', 'ok', /^127\.0\.0\.1 accepts the topic$/, '--online');
      expect(asked).to.deep.equal([
        { method: 'GET', path: '/hush-1/auth', authorization: 'Bearer tk_secret' },
      ]);
      reply = { status: 403, body: '{"code":40301}' };
      const refused = await at.doctor('notify', '--online');
      expect(refused.code).to.equal(4);
      expect(JSON.stringify(refused.report))
        .to.include('denies access to the topic')
        .and.not.include('hush-1');
      reply = { status: 200, body: '<html>hello</html>' };
      await at.expectRow('notify.push', 'failed', /does not respond like an ntfy server/, '--online');
      await at.run('config', 'set', 'notifications.push.enabled', 'false');
      await at.expectRow('notify.push', 'off', /switched off/, '--online');
    });

    it('requests the webhook with GET, and prints only the host', async () => {
      await at.expectRow('notify.chat', 'off', /switched off/);
      at.write('.steward/settings.json', '{"notifications":{"chat":{"enabled":true}}}');
      await at.expectRow('notify.chat', 'off', /no webhook is set/);
      const chat = { enabled: true, webhook: `${url}/hooks/very-secret` };
      at.write('.steward/settings.json', JSON.stringify({ notifications: { chat } }));
      await at.expectRow('notify.chat', 'off', /not checked: add --online/);
      await at.expectRow('notify.chat', 'ok', /^127\.0\.0\.1 responds$/, '--online');
      expect(asked).to.deep.equal([{ method: 'GET', path: '/hooks/very-secret', authorization: undefined }]);
      reply = { status: 404, body: '' };
      const gone = await at.expectRow('notify.chat', 'failed', /rejected the webhook \(404\)/, '--online');
      expect(JSON.stringify(gone)).not.to.include('very-secret');
    });

    it('reports a server that does not respond', async () => {
      at.write(
        '.steward/settings.json',
        JSON.stringify({ notifications: { push: { topic: 't', server: url } } }),
      );
      await closeServer(server);
      await at.expectRow('notify.push', 'failed', /^127\.0\.0\.1:\d+ refused the connection\.$/, '--online');
      server = createServer();
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    });

    it('counts abandoned messages', async () => {
      await at.expectRow('notify.outbox', 'ok', /^empty$/);
      at.write(
        '.steward/settings.json',
        JSON.stringify({
          notifications: { push: { topic: 'bad', server: url }, routing: { taskComplete: ['push'] } },
        }),
      );
      reply = { status: 400, body: '{"code":40009}' };
      await at.run('notify', 'send', 'A test', '--no-voice', '--wait');
      const row = await at.expectRow(
        'notify.outbox',
        'warning',
        /^empty; 1 failed permanently: The push server rejected the topic/,
      );
      await at.run(...(row.fix ?? '').split(' ').slice(1));
    });
  });

  describe('the voice', () => {
    /** Only these programs are on the PATH. */
    const only = (programs: Readonly<Record<string, string>>): void => {
      const bin = join(at.path, 'bin');
      rmSync(bin, { recursive: true, force: true });
      mkdirSync(bin);
      for (const name of ['sh', 'cat', 'head', 'sleep']) symlinkSync(`/bin/${name}`, join(bin, name));
      for (const [name, lines] of Object.entries(programs)) script(join(bin, name), lines);
      at.env = { PATH: bin };
    };
    /** Writes so many bytes to the file behind -w. */
    const engine = (bytes: number): string =>
      `while [ "$1" != -w ]; do shift; done; cat >/dev/null; head -c ${bytes} /dev/zero > "$2"`;

    it('is synthesized silently, and obstacles are named', async () => {
      only({});
      await at.expectRow('notify.voice', 'off', /No speech engine found/);
      only({ 'espeak-ng': engine(50_000), aplay: `echo heard > '${at.path}/heard'` });
      await at.expectRow(
        'notify.voice',
        'ok',
        /^espeak-ng produced 49 KiB of audio in \d+ ms(?:; this machine has no sound device to play it)?$/,
      );
      expect(() => writeFileSync(join(at.path, 'heard'), '', { flag: 'wx' })).not.to.throw();
      only({ 'espeak-ng': engine(50_000) });
      await at.expectRow('notify.voice', 'warning', /No audio player found/);
      only({ 'espeak-ng': engine(44), aplay: 'exit 0' });
      await at.expectRow('notify.voice', 'failed', /espeak-ng runs but produces no audio/);
      only({ 'espeak-ng': 'echo "no voice" >&2; exit 1', aplay: 'exit 0' });
      await at.expectRow('notify.voice', 'failed', /speech failed: .*no voice/);
      only({ 'spd-say': `echo heard > '${at.path}/heard'` });
      await at.expectRow('notify.voice', 'ok', /spd-say found; only/);
    });

    it('is played only with --sound', async () => {
      only({ 'espeak-ng': engine(50_000), aplay: `echo heard > '${at.path}/heard'` });
      await at.expectRow('notify.voice', 'ok', /^spoken aloud with espeak-ng/, '--sound');
      expect(() => writeFileSync(join(at.path, 'heard'), '', { flag: 'wx' })).to.throw('EEXIST');
    });

    it('may be muted, disabled, or a provider that is not contacted', async () => {
      only({ 'espeak-ng': engine(50_000), aplay: 'exit 0' });
      await at.run('notify', 'mute', '1h');
      const row = await at.expectRow('notify.voice', 'warning', /^muted until/);
      await at.run(...(row.fix ?? '').split(' ').slice(1));
      expect(await at.rows('notify.voice')).to.have.length(1);
      at.write('.steward/config.yaml', 'notify:\n  voice:\n    provider: {apiKey: "env:KEY"}\n');
      await at.expectRow('notify.voice', 'ok', /speech provider set up; add --online/);
      await at.run('config', 'set', 'notify.voice.engine', 'none');
      await at.expectRow('notify.voice', 'off', /switched off/);
    });
  });

  describe('work', () => {
    let github: GitHub;
    beforeEach(async () => {
      github = await startGitHub({ labels: true });
      at.env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    });
    afterEach(() => github.close());

    it('checks credential, repository, privacy and labels, with requests only if allowed', async () => {
      await at.expectRow('work.privacy', 'off', /not set up/);
      await at.run('work', 'setup', 'ann/work');
      github.seen.length = 0;
      await at.expectRow('work.privacy', 'ok', /^ann\/work is private \(verified /);
      await at.expectRow('work.token', 'ok', /from GH_TOKEN$/);
      await at.expectRow('work.repository', 'off', /not checked: add --online/);
      await at.expectRow('work.board', 'ok', /^last fetched: \d/);
      expect(github.seen).to.deep.equal([]);
      await at.expectRow(
        'work.repository',
        'ok',
        /is private, and the credential has write access/,
        '--online',
      );
      await at.expectRow('work.labels', 'ok', /^all \d+ labels exist$/, '--online');
      expect([...new Set(github.seen.map(({ method }) => method))]).to.deep.equal(['GET']);
    });

    it('reports missing labels, and its command adds them', async () => {
      await at.run('work', 'setup', 'ann/work');
      await github.api('DELETE', '/repos/ann/work/labels/Type:bug');
      const row = await at.expectRow('work.labels', 'warning', /labels missing in .*Type:bug/, '--online');
      await at.run(...(row.fix ?? '').split(' ').slice(1));
      await at.expectRow('work.labels', 'ok', /all \d+ labels exist/, '--online');
    });

    it('reports a repository that became public', async () => {
      await at.run('work', 'setup', 'ann/work');
      await github.api('PATCH', '/repos/ann/work', { private: false, visibility: 'public' });
      const row = await at.expectRow('work.repository', 'failed', /ann\/work is public/, '--online');
      expect(row.fix).to.equal('steward work verify');
    });

    it('reports a missing or old verification, and its command renews it', async () => {
      await at.run('work', 'setup', 'ann/work');
      const attest = (values: object): void => {
        const path = join(at.area, 'work', 'work_repo.json');
        const stored = JSON.parse(readFileSync(path, 'utf8')) as { privacy: object };
        writeFileSync(path, JSON.stringify({ ...stored, privacy: { ...stored.privacy, ...values } }));
      };
      attest({ verifiedAt: '2020-01-01T00:00:00.000Z' });
      const row = await at.expectRow('work.privacy', 'warning', /has expired \(last verified 2020/);
      await at.run(...(row.fix ?? '').split(' ').slice(1));
      await at.expectRow('work.privacy', 'ok', /is private/);
      attest({ verifiedPrivate: false });
      await at.expectRow('work.privacy', 'failed', /has not been verified as private/);
    });

    it('reports a missing or refused credential, and an unreachable service', async () => {
      await at.run('work', 'setup', 'ann/work');
      at.env = { ...at.env, GH_TOKEN: 'ghp_wrong' };
      const refused = await at.doctor('work', '--online');
      expect(refused.code, JSON.stringify(refused.report)).to.equal(4);
      expect(refused.report.checks.find(({ id }) => id === 'work.repository')).to.include({
        state: 'failed',
        // The token of the environment stands over a login.
        fix: null,
      });
      at.env = { ...at.env, GH_TOKEN: undefined, PATH: join(at.path, 'bin') };
      const none = await at.expectRow('work.token', 'failed', /No credential found/);
      expect(none.fix).to.equal('gh auth login');
      at.env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
      await github.close();
      await at.expectRow('work.repository', 'failed', /refused the connection/, '--online');
      await at.run('work', 'board', '--refresh');
      await at.expectRow('work.board', 'warning', /refused the connection/);
      github = await startGitHub();
    });
  });
});
