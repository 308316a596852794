import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { emptyHome, steward } from '../helpers/cli';
import { ask, machineFolder, signIn, startDaemon, type RunningDaemon } from '../helpers/daemon';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { readApi } from '../helpers/openapi';

const TITLE = 'Planted title 7c31';
const BRANCH = 'planted-branch-7c31';
const PLANTED = /planted.{1,3}(?:title|branch|issue|commit|message).7c31/i;

describe('names over HTTP (built)', function () {
  this.timeout(120_000);
  const api = readApi();
  let home: ReturnType<typeof emptyHome>;
  let daemon: RunningDaemon;
  let github: GitHub;

  before(async () => {
    home = emptyHome();
    github = await startGitHub({ labels: true });
    const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    const run = async (args: string[], input = ''): Promise<void> => {
      const { code, stderr } = await steward(args, { home: home.path, env, input });
      expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
    };
    const repo = join(home.path, 'shop');
    mkdirSync(repo);
    const git = (...args: string[]): void => {
      execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
        cwd: repo,
      });
    };
    git('init', '--quiet', '--initial-branch', BRANCH);
    git('commit', '--quiet', '--allow-empty', '--message', 'Planted commit 7c31');
    await run(['sense', 'init']);
    await run(['config', 'set', 'sense.repos', repo]);
    await run(['config', 'set', 'sense.git.authors', 'ann@example.org']);
    await run(['config', 'set', 'sessions.titles', 'true']);
    await run(['work', 'setup', 'ann/work']);
    await run(['work', 'add', 'Planted issue 7c31', '--status', 'ready']);
    for (const event of ['session-start', 'prompt', 'stop'] as const)
      await run(['hook', event, '--no-tab'], hookJson(event, { cwd: repo, prompt: TITLE }));
    await run(['hook', 'prompt', '--no-tab'], hookJson('prompt', { cwd: repo, prompt: `Queue the Planted message 7c31 for later` })); // prettier-ignore
    await run(['notify', 'send', 'Planted message 7c31', '--title', TITLE]);
    await run(['sense', 'capture']);
    await run(['sense', 'rollup']);
    await run(['config', 'set', 'daemon.requireToken', 'true']);
    daemon = await startDaemon({ home: home.path, env });
  });
  after(async () => {
    await daemon.stop('SIGKILL');
    await github.close();
    home.remove();
  });

  const stateOf = (name: string): string => readFileSync(join(machineFolder(home.path), name), 'utf8');
  const socket = (): string => (JSON.parse(stateOf('daemon.json')) as { socket: string }).socket;
  const gets = [...api.operations]
    .filter(([name, { 'x-endless': isEndless, 'x-local-only': isLocal }]) => {
      return name.startsWith('GET ') && !name.includes('{') && isEndless !== true && isLocal !== true;
    })
    .map(([name]) => name);
  const more: Readonly<Record<string, string>> = {
    '/api/sessions': '?all=1',
    '/api/work': '?full=1',
    '/api/report': '?usage=1',
    '/api/usage': '?by=session',
  };
  /** The routes whose response contains a planted name. */
  const withNames = async (headers: Record<string, string>, way: { socket?: string } = {}) => {
    const found: string[] = [];
    for (const name of gets) {
      const path = name.slice('GET '.length);
      for (const query of new Set(['', more[path] ?? ''])) {
        const reply = await ask(`${daemon.url}${path}${query}`, { headers, ...way });
        expect(reply.status, `${name}${query}: ${reply.text}`).to.equal(200);
        expect(api.faultsOf(name, reply), reply.text).to.deep.equal([]);
        if (PLANTED.test(reply.text)) found.push(`${path}${query}`);
      }
    }
    return found;
  };

  it('are in every response to the socket and to a signed-in page, and in none to a token', async () => {
    const page = await signIn(home.path, daemon.url);
    const token = { authorization: `Bearer ${stateOf('daemon.token').trim()}` };
    const named = await withNames(page);
    expect(named).to.include.members([
      ...['/api/day', '/api/sessions', '/api/sessions?all=1', '/api/work', '/api/notify', '/api/report'],
      '/api/work/captures',
    ]);
    expect(await withNames({}, { socket: socket() })).to.deep.equal(named);
    expect(await withNames(token)).to.deep.equal([]);
  });

  it('are not in the stream, whose ETags are those of the document that the listener gets', async () => {
    for (const headers of [
      await signIn(home.path, daemon.url),
      { authorization: `Bearer ${stateOf('daemon.token').trim()}` },
    ]) {
      const stop = new AbortController();
      const { body } = await fetch(`${daemon.url}/api/stream`, { headers, signal: stop.signal });
      let text = '';
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        text += new TextDecoder().decode(chunk);
        if (text.includes('"work"') && text.endsWith('\n')) break;
      }
      stop.abort();
      expect(text).not.to.match(PLANTED);
      const lines = text.trim().split('\n').map((line) => JSON.parse(line) as Record<string, string>); // prettier-ignore
      const known = lines.find(({ topic }) => topic === 'work')?.['etag'];
      const asked = await ask(`${daemon.url}/api/work`, {
        headers: { ...headers, 'if-none-match': String(known) },
      });
      expect(asked.status).to.equal(304);
    }
  });
});
