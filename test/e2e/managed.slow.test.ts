import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { startFake, type Fake, type FakeOptions } from '../helpers/fake-managed/server';
import type { Step } from '../helpers/fake-managed/session';

const say = (text: string): Step => ({ emit: { type: 'agent.message', content: [{ type: 'text', text }] } });

describe('agents managed, built', function () {
  this.timeout(120_000);
  let fake: Fake;
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => {
    home = emptyHome();
  });
  afterEach(async () => {
    await fake.stop();
    home.remove();
  });

  async function serve(options: FakeOptions = {}): Promise<void> {
    fake = await startFake(options);
    fake.agents.set('agent_1', { id: 'agent_1' });
    fake.environments.set('env_1', { id: 'env_1' });
  }
  const managed = (
    args: string[],
    env: Record<string, string> = {},
    input?: string,
  ): Promise<StewardResult> =>
    steward(['agents', 'managed', ...args], {
      home: home.path,
      env: { STEWARD_MANAGED_URL: fake.url, ...env },
      ...(input === undefined ? {} : { input }),
    });
  const run = (...more: string[]): Promise<StewardResult> =>
    managed(['run', '--agent', 'agent_1', '--environment', 'env_1', ...more]);
  const onlySession = () => [...fake.sessions.values()][0]!;
  const ids = ({ stdout }: StewardResult): string[] =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { id: string }).id);

  it('creates an agent and an environment, runs a message, and shows the session', async () => {
    await serve({ script: () => [say('Two files.\nBoth fine.')] });
    const agent = jsonOf(await managed(['create', '--name', 'rev', '--model', 'm1', '--json'])) as {
      id: string;
    };
    expect(fake.agents.get(agent.id)).to.deep.include({ tools: [{ type: 'agent_toolset_20260401' }] });
    const made = await managed([
      'env',
      'create',
      '--name',
      'py',
      '--package',
      'pip:pandas',
      '--host',
      'pypi.org',
      '--json',
    ]);
    const environment = jsonOf(made) as { id: string; config: unknown };
    expect(environment.config).to.deep.equal({
      type: 'cloud',
      networking: { type: 'limited', allowed_hosts: ['pypi.org'] },
      packages: { pip: ['pandas'] },
    });
    expect((await managed(['list'])).stdout).to.include(`${agent.id}  rev`);
    expect((await managed(['env', 'list'])).stdout).to.include(environment.id);
    const ran = await managed(['run', '--agent', agent.id, '--environment', environment.id, 'look at it']);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(ran.stdout).to.equal('> look at it\nTwo files.\nBoth fine.\n');
    const { id } = onlySession();
    expect(ran.stderr).to.match(new RegExp(`^Session ${id}\\nDone\\. 0 tokens in`));
    expect((await managed(['sessions'])).stdout).to.include(`${id}  idle`);
    expect(jsonOf(await managed(['show', id, '--json']))).to.include({ localEvents: 4, unsent: false });
    expect((await managed(['archive', id])).code).to.equal(0);
    const woken = await managed(['wake', id]);
    expect(woken).to.include({ code: 6, stdout: '' });
    expect(woken.stderr).to.match(/is archived and cannot be resumed/);
  });

  it('prints each event once, in log order, and a wake prints only new events', async () => {
    await serve();
    const ran = await run('--json', 'hello');
    expect(ran).to.include({ code: 0, stderr: '' });
    const { id, log } = onlySession();
    expect(ids(ran)).to.deep.equal(log.map((event) => event.id));
    expect(await managed(['wake', '--json'])).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    const before = log.length;
    const more = await managed(['wake', id, 'and more', '--json']);
    expect(ids(more)).to.deep.equal(log.slice(before).map((event) => event.id));
    const path = join(home.path, '.steward', 'state', 'managed', `${id}.jsonl`);
    expect(readFileSync(path, 'utf8').trim().split('\n')).to.have.length(log.length);
  });

  it('works with a server without event ids and without a list of events', async () => {
    const frames = [
      { type: 'session.status_running' },
      { type: 'agent.message', content: [{ type: 'text', text: 'hi' }] },
      { type: 'session.status_idle', stop_reason: { type: 'end_turn' } },
    ];
    let stream: import('node:http').ServerResponse | undefined;
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      request.resume();
      if (path === '/v1/sessions') return void response.end('{"id":"s1"}');
      if (path === '/v1/sessions/s1/stream') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void stream.flushHeaders();
      }
      if (request.method !== 'POST') return void response.writeHead(404).end('{}');
      response.end('{}');
      for (const frame of frames) stream?.write(`data: ${JSON.stringify(frame)}\n\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await serve();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ran = await managed(['run', '--agent', 'a', '--environment', 'e', '--json', 'hello'], {
      STEWARD_MANAGED_URL: url,
    });
    server.close();
    server.closeAllConnections();
    expect(ran.code, ran.stderr).to.equal(0);
    expect(
      ran.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).to.deep.equal(frames);
  });

  it('stops at a question, and continues with the answers', async () => {
    await serve({
      script: () => [
        { waitFor: { kind: 'tool', name: 'bash', count: 2 } },
        { waitFor: { kind: 'custom', name: 'ask', count: 1 } },
        say('Done.'),
      ],
    });
    const ran = await run('go');
    expect(ran.code).to.equal(6);
    expect(ran.stderr).to.match(/waiting for 2 answers[\s\S]*steward agents managed wake sesn_\w+ --allow/);
    const session = onlySession();
    const allowed = await managed(['wake', '--allow', 'bash']);
    expect(allowed.code).to.equal(6);
    const [use] = [...session.pending];
    expect(allowed.stderr).to.include(`send ${session.id} --tool-result ${use}=@FILE --follow`);
    writeFileSync(join(home.path, 'answer.txt'), 'forty-two');
    const file = join(home.path, 'answer.txt');
    const answered = await managed(['send', session.id, '--tool-result', `${use}=@${file}`, '--follow']);
    expect(answered.code, answered.stderr).to.equal(0);
    expect(answered.stdout).to.match(/Done\.\n$/);
    const results = session.log.filter(({ type }) => type === 'user.custom_tool_result');
    expect(results.map(({ content }) => content)).to.deep.equal([[{ type: 'text', text: 'forty-two' }]]);
    const refused = await managed(['send', session.id, '--allow', 'bash']);
    expect(refused).to.include({ code: 6, stdout: '' });
  });

  it('lists the pending questions if a session refuses a message', async () => {
    await serve({ script: () => [{ waitFor: { kind: 'tool', name: 'bash', count: 1 } }] });
    await run('go');
    const sent = await managed(['send', onlySession().id, 'and more']);
    expect(sent).to.include({ code: 6, stdout: '' });
    expect(sent.stderr).to.match(/not sent: the agent is waiting for an answer\.[\s\S]* --allow sevt_/);
  });

  it('leaves no file for a session that does not exist', async () => {
    await serve();
    for (const args of [['stream'], ['wake'], ['send', '-']]) {
      const [verb = '', ...more] = args;
      expect((await managed([verb, 'sesn_none', ...more])).code, verb).to.equal(5);
    }
    expect((await managed(['wake'])).stderr).to.match(/No hosted session has been used on this machine/);
  });

  it('resumes after SIGKILL where the reader stopped', async () => {
    await serve({
      script: () => Array.from({ length: 80 }, (_, index) => say(`line ${index}`)),
      pauseMs: () => 10,
    });
    const out = join(home.path, 'out.jsonl');
    const follow = async (args: string[], killAt?: number): Promise<number | null> => {
      const fd = openSync(out, 'a');
      const env = cleanEnv(home.path, { STEWARD_MANAGED_URL: fake.url });
      const child = spawn(process.execPath, [BIN, 'agents', 'managed', ...args, '--json'], {
        env,
        stdio: ['ignore', fd, 'inherit'],
      });
      closeSync(fd);
      const closed = once(child, 'close') as Promise<[number | null]>;
      if (killAt !== undefined) {
        await until('it has shown some', () => readFileSync(out, 'utf8').split('\n').length > killAt, 60_000);
        child.kill('SIGKILL');
      }
      return (await closed)[0];
    };
    await follow(['run', '--agent', 'agent_1', '--environment', 'env_1', 'go'], 10);
    await follow(['wake'], 30);
    expect(await follow(['wake'])).to.equal(0);
    expect(fake.sessions.size).to.equal(1);
    expect(ids({ code: 0, stdout: readFileSync(out, 'utf8'), stderr: '' })).to.deep.equal(
      onlySession().log.map((event) => event.id),
    );
  });

  it('denies tools, and sends a message from stdin unchanged', async () => {
    await serve({ script: () => [{ waitFor: { kind: 'tool', name: 'bash', count: 1 } }] });
    const args = [
      'run',
      '--agent',
      'agent_1',
      '--environment',
      'env_1',
      '--allow',
      'all',
      '--deny',
      'bash',
      '@-',
    ];
    expect((await managed(args, {}, 'línea 1\nlínea 2\n')).code).to.equal(0);
    const { log } = onlySession();
    expect(log.find(({ type }) => type === 'user.tool_confirmation')).to.include({ result: 'deny' });
    expect(log.find(({ type }) => type === 'user.message')?.['content']).to.deep.equal([
      { type: 'text', text: 'línea 1\nlínea 2\n' },
    ]);
  });

  it('interrupts the agent at the cost limit, and sets the same limit with the service', async () => {
    const usage = { input_tokens: 1, output_tokens: 1, active_seconds: 90_000 };
    await serve({
      script: () => [
        { emit: { type: 'session.usage', usage } },
        ...Array.from({ length: 500 }, (_, i) => say(`${i}`)),
      ],
      pauseMs: () => 20,
    });
    const ran = await run('--max-cost', '1.50', 'go');
    expect(ran.code, ran.stderr).to.equal(130);
    expect(ran.stderr).to.match(/The cost has reached 2\.00 USD[\s\S]*interrupted at the cost limit/);
    expect(onlySession().log.some(({ type }) => type === 'user.interrupt')).to.equal(true);
    const created = fake.requests.find(({ method, path }) => method === 'POST' && path === '/v1/sessions');
    expect(created?.body).to.deep.include({
      budget: { type: 'limit', max_list_cost: { amount: '150', currency: 'USD' } },
    });
  });

  it('detaches at Ctrl-C, closes its connections, and a wake resumes', async function () {
    if (process.platform === 'win32') this.skip();
    await serve({
      script: () => Array.from({ length: 60 }, (_, index) => say(`line ${index}`)),
      pauseMs: () => 20,
    });
    const args = ['agents', 'managed', 'run', '--agent', 'agent_1', '--environment', 'env_1', '--json', 'go'];
    const env = cleanEnv(home.path, { STEWARD_MANAGED_URL: fake.url });
    const child = spawn(process.execPath, [BIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    const closed = once(child, 'close');
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    child.stdout.on('data', (text: Buffer) => {
      stdout += text.toString();
      if (stdout.includes('line 3') && !child.killed) child.kill('SIGINT');
    });
    expect((await closed)[0]).to.equal(130);
    const session = onlySession();
    expect(JSON.parse(stderr)).to.deep.equal({
      error: {
        kind: 'canceled',
        message: `Detached; session ${session.id} continues.`,
        hint: `To resume: steward agents managed wake ${session.id}`,
      },
    });
    while (fake.connections() > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(session.log.some(({ type }) => type === 'user.interrupt')).to.equal(false);
    const woken = await managed(['wake', session.id, '--json']);
    expect(woken.code, woken.stderr).to.equal(0);
    const all = [...ids({ code: 0, stdout, stderr }), ...ids(woken)];
    expect(all).to.deep.equal(session.log.map((event) => event.id));
  });

  it('reports retries while the service is down, and continues', async () => {
    await serve({
      script: () => Array.from({ length: 60 }, (_, index) => say(`line ${index}`)),
      pauseMs: () => 20,
    });
    const args = ['agents', 'managed', 'run', '--agent', 'agent_1', '--environment', 'env_1', 'go'];
    const env = cleanEnv(home.path, { STEWARD_MANAGED_URL: fake.url });
    const child = spawn(process.execPath, [BIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const closed = once(child, 'close');
    await until('it shows some', () => stdout.includes('line 3'), 60_000);
    await fake.stop();
    await until('it says so', () => stderr.includes('Retrying; the session continues.'), 60_000);
    await fake.restart();
    expect((await closed)[0], stderr).to.equal(0);
    expect(stdout).to.equal(`> go\n${Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join('')}`);
  });

  it('interrupts the agent on request', async () => {
    await serve({
      script: () => Array.from({ length: 2000 }, (_, index) => say(`${index}`)),
      pauseMs: () => 10,
    });
    const running = run('--json', 'go');
    while ((onlySession()?.log.length ?? 0) < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await managed(['interrupt', onlySession().id])).code).to.equal(0);
    expect((await running).code).to.equal(130);
  });

  it('allows one reader of a session at a time', async () => {
    await serve({
      script: () => Array.from({ length: 2000 }, (_, index) => say(`${index}`)),
      pauseMs: () => 10,
    });
    const first = run('--json', 'go');
    const local = join(home.path, '.steward', 'state', 'managed');
    const isShown = (): boolean => {
      try {
        return readdirSync(local).some((name) => name.endsWith('.shown'));
      } catch {
        return false;
      }
    };
    while (!isShown()) await new Promise((resolve) => setTimeout(resolve, 5));
    const { id, log } = onlySession();
    expect((await managed(['stream', id])).code).to.equal(7);
    // What is told to be run again has sent nothing.
    expect((await managed(['wake', id, 'more'])).code).to.equal(7);
    expect((await managed(['send', id, 'more', '--follow'])).code).to.equal(7);
    expect(log.filter(({ type }) => type === 'user.message')).to.have.length(1);
    await managed(['interrupt', onlySession().id]);
    await first;
  });

  it('never prints or stores the values of secrets', async () => {
    await serve();
    const value = 'hunter2-very-secret';
    const made = await managed(['env', 'create', '--name', 'e', '--secret', 'TOKEN=env:MY_TOKEN', '--json'], {
      MY_TOKEN: value,
    });
    expect(made.code, made.stderr).to.equal(0);
    expect(made.stdout + made.stderr).not.to.include(value);
    const post = fake.requests.find(({ path, method }) => method === 'POST' && path === '/v1/environments');
    expect(post?.body).to.deep.nested.include({ 'config.secrets': { TOKEN: value } });
    const open = await managed(['env', 'create', '--name', 'e', '--secret', `TOKEN=${value}`]);
    expect(open.code).to.equal(2);
    expect(open.stderr).not.to.include(value);
    expect((await managed(['env', 'create', '--name', 'e', '--secret', 'TOKEN=env:NOT_SET'])).code).to.equal(
      3,
    );
  });

  describe('explains what is wrong with', () => {
    it('the credential', async () => {
      await serve({ apiKey: 'good' });
      const both = await managed(['list'], { ANTHROPIC_API_KEY: 'good', ANTHROPIC_AUTH_TOKEN: 'other' });
      expect(both.code).to.equal(4);
      expect(both.stderr).to.match(/Both ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN are set/);
      const stale = await managed(['list'], { STEWARD_MANAGED_API_KEY: 'old-secret' });
      expect(stale.code).to.equal(4);
      expect(stale.stderr).to.match(/rejected the credential from agents\.managed\.apiKey \(401\)/);
      expect(stale.stderr).not.to.include('old-secret');
      await fake.stop();
      await serve({ apiKey: 'sk-ant-oat01-good' });
      expect((await managed(['list'], { STEWARD_MANAGED_API_KEY: 'sk-ant-oat01-good' })).code).to.equal(0);
      const none = await managed(['list'], {
        STEWARD_MANAGED_URL: 'https://example.org',
        ANTHROPIC_API_KEY: 'vendors',
      });
      expect(none.code).to.equal(4);
      expect(none.stderr).to.match(/No credential for example\.org/);
    });

    it('a missing credential', async () => {
      await serve({ apiKey: 'good' });
      const none = await managed(['list']);
      expect(none.code).to.equal(4);
      expect(none.stderr).to.match(
        /requires a credential \(401\)\..*\nSet a credential: steward config set /,
      );
    });

    it('responses of another service', async () => {
      await serve();
      let asked = 0;
      let answer: unknown = {};
      const other = createServer((request, response) => {
        asked += 1;
        request.resume();
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const env = { STEWARD_MANAGED_URL: `http://127.0.0.1:${(other.address() as AddressInfo).port}` };
      const noList = await managed(['list'], env);
      expect(noList).to.include({ code: 8, stdout: '' });
      expect(noList.stderr).to.match(/did not return a list of agents/);
      answer = { id: '../../outside' };
      const badId = await managed(['run', '--agent', 'a', '--environment', 'e', 'go'], env);
      expect(badId).to.include({ code: 8, stdout: '' });
      expect(badId.stderr).to.match(/returned an invalid session id: \.\.\/\.\.\/outside/);
      asked = 0;
      Object.defineProperty((answer = { data: [{ id: 'a' }] }), 'next_page', {
        enumerable: true,
        get: () => `page ${asked}`,
      });
      expect(await managed(['list'], env)).to.deep.equal({ code: 0, stdout: 'a\n', stderr: '' });
      expect(asked).to.be.at.most(30);
      other.close();
    });

    it('the server', async () => {
      await serve();
      let status = 200;
      let hits = 0;
      const other = createServer((_, response) => {
        hits += 1;
        const more = status === 307 ? { location: `${fake.url}/v1/agents` } : {};
        response.writeHead(status, { 'content-type': 'text/html', ...more }).end('<html>Sign in</html>');
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      // No other test's server can take this port.
      const nobody = 'http://127.0.0.1:9';
      // Both are asked again for seconds.
      const [page, gone] = await Promise.all([
        managed(['show', 'sesn_1'], { STEWARD_MANAGED_URL: url }),
        managed(['list'], { STEWARD_MANAGED_URL: nobody }),
      ]);
      expect(page.code).to.equal(8);
      expect(page.stderr).to.match(/does not respond like the managed-agents API/);
      status = 307;
      hits = 0;
      const moved = await managed(['show', 'sesn_1'], { STEWARD_MANAGED_URL: url });
      expect(moved.code).to.equal(8);
      expect(moved.stderr).to.match(/does not forward credentials/);
      expect(hits).to.equal(1);
      expect(fake.requests).to.have.length(0);
      other.close();
      expect(gone.code).to.equal(8);
      expect(gone.stderr).to.match(/refused the connection/);
    });

    const mistakes: [args: string[], code: number, message: RegExp][] = [
      [['run', 'hi'], 2, /--agent|agent/],
      [
        ['run', '--agent', 'nobody', '--environment', 'env_1', 'hi'],
        5,
        /cannot create a new session: unknown agent or environment \(404\)\. no such agent/,
      ],
      [['run', '--agent', '', '--environment', 'env_1', 'hi'], 2, /^--agent is empty/],
      [['run', '--agent', 'agent_1', '--environment', ' ', 'hi'], 2, /^--environment is empty/],
      [['wake', 'sesn_1', '--allow', ''], 2, /^--allow is empty/],
      [
        ['run', '--agent', 'agent_1', '--environment', 'env_1', '--max-cost', 'much', 'hi'],
        2,
        /^Invalid --max-cost "much"\.\nUse an amount/,
      ],
      [['run', '--agent', 'agent_1', '--environment', 'env_1', ' '], 2, /The message is empty/],
      [['send', 'sesn_1', ''], 2, /The message is empty/],
      [['stream', 'sesn_none'], 5, /session sesn_none/],
      [['env', 'create', '--name', 'e', '--secret', 'X=env:NOPE'], 3, /NOPE is not set\.\nSet NOPE/],
      [
        ['run', '--agent', 'agent_1', '--environment', 'env_1', '@/no/such/file'],
        5,
        /File \/no\/such\/file not found/,
      ],
      [['send', 'sesn_1', '@.'], 2, /is not a regular file\.\nUse a text file of .*; use @- or - for stdin/],
      [['create', '--file', '.'], 2, /is not a regular file/],
      [['wake', '../../etc/passwd'], 2, /is not a valid id for a session/],
      [['wake', 'sesn_none'], 5, /session sesn_none/],
      [['wake'], 5, /No hosted session has been used on this machine/],
      [['send', 'sesn_none'], 2, /Nothing to send/],
      [['create', '--name', 'x'], 2, /requires a model/],
      [
        ['env', 'create', '--name', 'x', '--host', 'https://pypi.org'],
        2,
        /Invalid --host .*\nUse only a host name/,
      ],
      [['env', 'create', '--name', 'x', '--package', 'brew:jq'], 2, /Invalid --package "brew:jq"/],
    ];
    for (const [args, code, message] of mistakes) {
      it(`agents managed ${args.join(' ')}`, async () => {
        await serve();
        const result = await managed(args);
        expect(result).to.include({ code, stdout: '' });
        expect(result.stderr).to.match(message);
        expect(result.stderr).not.to.match(/ {4}at /);
      });
    }

    it('a file: the line and the column', async () => {
      await serve();
      const file = join(home.path, 'agent.yaml');
      writeFileSync(file, 'name: a\nmodel: [m\n');
      const broken = await managed(['create', '--file', file]);
      expect(broken.code).to.equal(2);
      expect(broken.stderr).to.match(/agent\.yaml, line \d+, column \d+: /);
      writeFileSync(file, 'name: a\nmodel: m\nsytem: x\n');
      expect((await managed(['create', '--file', file])).stderr).to.match(
        /Unknown key sytem in the agent file/,
      );
    });
  });
});
