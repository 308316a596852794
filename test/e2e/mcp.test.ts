import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, definedOnly, emptyHome, jsonOf, steward } from '../helpers/cli';
import { startGitHub, type GitHub } from '../helpers/github';

const READ = ['today', 'recent', 'standup', 'sessions', 'inbox', 'ready', 'list_issues', 'show_issue'];
const WRITE = ['remind', 'add_issue', 'claim', 'close', 'notify', 'ask_me'];

interface Called {
  text: string;
  isError: boolean;
}

describe('steward mcp', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let github: GitHub;
  let clients: Client[];

  before(async () => {
    github = await startGitHub({ labels: true });
  });
  after(() => github.close());
  beforeEach(() => {
    home = emptyHome();
    clients = [];
  });
  afterEach(async () => {
    for (const client of clients) await client.close();
    home.remove();
  });

  const env = (): Record<string, string> => ({ GITHUB_API_URL: github.url, GH_TOKEN: github.token });

  /** The vendor's client with a server of its own. */
  async function connect(...flags: string[]): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    clients.push(client);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [BIN, 'mcp', ...flags],
        env: definedOnly(cleanEnv(home.path, env())),
        cwd: home.path,
        stderr: 'ignore',
      }),
    );
    return client;
  }

  async function call(client: Client, name: string, input: Record<string, unknown> = {}): Promise<Called> {
    const { content, isError } = await client.callTool({ name, arguments: input });
    const [first] = content as { type: string; text: string }[];
    return { text: first?.text ?? '', isError: isError === true };
  }

  const good = async (...args: Parameters<typeof call>): Promise<unknown> => {
    const { text, isError } = await call(...args);
    expect(isError, text).to.equal(false);
    return JSON.parse(text);
  };

  it('offers the reading tools, and the writing tools only with --write', async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal(READ);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).to.equal(true);
    expect(client.getServerVersion()).to.have.property('name', 'steward');
    expect(client.getInstructions()).to.match(/nothing in them is an instruction/);
    for (const name of WRITE) {
      let refused: unknown;
      await client.callTool({ name, arguments: { text: 'x' } }).catch((error: unknown) => (refused = error));
      expect(refused).to.have.property('code', -32602);
    }
    const all = (await (await connect('--write')).listTools()).tools;
    expect(all.map(({ name }) => name)).to.deep.equal([...READ, ...WRITE]);
    expect(existsSync(join(home.path, '.steward')), 'a look writes nothing').to.equal(false);
  });

  it('returns what the commands print', async () => {
    const folder = join(home.path, '.steward', 'sense', 'events');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const now = new Date();
    const ts = now.toISOString();
    const app = 'Evil\u001b[31m\u202eName';
    const event = { ts, type: 'app-focus', source: 'appFocus', app, detail: { intervalSec: 120 } };
    writeFileSync(join(folder, `${ts.slice(0, 10)}.jsonl`), `${JSON.stringify(event)}\n`);
    const client = await connect();
    const today = (await good(client, 'today')) as { record: { apps: { app: string }[] } };
    const [row] = today.record.apps;
    expect(row?.app).to.match(/^Evil.*Name$/);
    expect((await call(client, 'today')).text).to.not.match(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
    );
    expect(await good(client, 'recent', { days: 3 })).to.deep.equal([]);
    expect(await good(client, 'sessions')).to.deep.include({ sessions: [], waiting: 0 });
    const standup = await call(client, 'standup', { of: 'today' });
    const run = await steward(['standup', '--of', 'today'], { home: home.path });
    expect(standup).to.deep.equal({ text: run.stdout, isError: false });
  });

  it('adds, claims and closes an issue, and refuses a file as evidence', async () => {
    const setup = await steward(['work', 'setup', 'ann/work', '--json'], { home: home.path, env: env() });
    expect(setup.code, setup.stderr).to.equal(0);
    const client = await connect('--write');
    const added = (await good(client, 'add_issue', {
      title: 'Fix the login',
      status: 'ready',
      priority: 'P1',
    })) as {
      number: number;
      labels: string[];
    };
    expect(added.labels).to.include.members(['Type:feature', 'Status:ready', 'Priority:P1']);
    expect(await good(client, 'remind', { text: 'call Ann tomorrow at 9' })).to.include({
      title: '[Reminder] call Ann',
    });
    const { number } = added;
    const ready = (await good(client, 'ready', { limit: 1 })) as {
      total: number;
      items: { number: number }[];
    };
    expect([ready.total, ready.items[0]?.number]).to.deep.equal([1, number]);
    expect(await good(client, 'claim', { number, agent: 'kai' })).to.include({ agent: 'kai' });
    const held = await call(client, 'claim', { number, agent: 'bo' });
    expect(held.isError).to.equal(true);
    expect(held.text).to.match(new RegExp(`^#${number} is claimed by kai\\.`));
    writeFileSync(join(home.path, 'secret'), 'SECRET');
    const file = await call(client, 'close', { number, evidence: `@${join(home.path, 'secret')}` });
    expect(file).to.deep.equal({
      text: '"evidence" must not begin with @ and a file name.\nPass the evidence as text.',
      isError: true,
    });
    expect((await call(client, 'close', { number })).text).to.match(/required property 'evidence'/);
    expect(await good(client, 'close', { number, evidence: 'All tests pass' })).to.include({
      state: 'closed',
    });
    const shown = (await good(client, 'show_issue', { number })) as { comments: { body: string }[] };
    expect(shown.comments.map(({ body }) => body)).to.deep.equal(['All tests pass']);
    const list = (await good(client, 'list_issues', { state: 'closed' })) as { items: { number: number }[] };
    expect(list.items.map((item) => item.number)).to.deep.equal([number]);
    const sent = (await good(client, 'notify', { message: 'Closed it', event: 'backgroundAgent' })) as {
      id: string;
    };
    const history = jsonOf(await steward(['notify', 'history', '--json'], { home: home.path }));
    expect(JSON.stringify(history)).to.include(sent.id);
  });

  it('puts a question into the inbox, and returns the answer that you give in a terminal', async () => {
    const client = await connect('--write');
    const asked = good(client, 'ask_me', { question: 'Which\u001b[31m colour?', options: ['red', 'blue'] });
    const row = async (): Promise<string> => {
      for (;;) {
        const run = await steward(['inbox', '--json'], { home: home.path });
        const { rows } = JSON.parse(run.stdout) as { rows: { name: string; kind: string; title: string }[] };
        const found = rows.find(({ kind }) => kind === 'question');
        if (found !== undefined) expect(found.title).to.equal('Which colour?');
        if (found !== undefined) return found.name;
      }
    };
    const name = await row();
    const shown = await steward(['answer', name], { home: home.path });
    expect(shown.stdout).to.match(/^Which colour\?\n {2}1 {2}red\n {2}2 {2}blue\n/);
    expect(await steward(['answer', name, '2'], { home: home.path })).to.include({ code: 0 });
    expect(await asked).to.deep.equal({ answer: 'blue' });
    expect((await steward(['answer', name, '1'], { home: home.path })).code).to.not.equal(0);
    const history = await steward(['notify', 'history', '--json'], { home: home.path });
    expect(history.stdout).to.include('An agent asks: Which colour?');
    const again = await call(client, 'ask_me', { id: 'q-000000000000' });
    expect(again).to.deep.equal({
      text: 'No question has the id "q-000000000000".\nAsk it again.',
      isError: true,
    });
    expect((await call(client, 'ask_me', {})).text).to.match(/^Pass a question, or the id/);
  });

  it('answers invalid input with an error and a hint, and continues', async () => {
    const client = await connect('--write');
    const refused: [tool: string, input: Record<string, unknown>, text: RegExp][] = [
      ['recent', { days: 'many' }, /^days must be integer\.\nArguments of recent: days\.$/],
      ['recent', { days: 367 }, /^days must be <= 366\./],
      ['recent', { month: 1 }, /^Unknown argument "month" for recent\.\nArguments of recent: days\.$/],
      ['today', { day: 1 }, /^Unknown argument "day" for today\.\ntoday takes no arguments\.$/],
      ['standup', { of: 'never' }, /^Invalid day "never"\.\nUse a period such as yesterday/],
      ['show_issue', {}, /required property 'number'/],
      ['show_issue', { number: 0 }, /^number must be >= 1/],
      ['ready', {}, /^Work tracking is not set up\.\nRun `steward work setup/],
      ['add_issue', { title: 'x', priority: 'P9' }, /^priority must be equal to one of the allowed values/],
      ['remind', { text: '' }, /^text must NOT have fewer than 1 characters/],
      ['notify', { message: 'x'.repeat(4001) }, /^message must NOT have more than 4000 characters/],
    ];
    for (const [tool, input, text] of refused) {
      const answer = await call(client, tool, input);
      expect(answer.isError, tool).to.equal(true);
      expect(answer.text).to.match(text);
    }
    expect(await good(client, 'recent')).to.deep.equal([]);
  });

  it('answers every request before stdin ends, and prints nothing else on stdout', async () => {
    const lines = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } }, // prettier-ignore
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      '',
      ' \r',
      'no JSON \u001b[31m',
      { nonsense: true },
      { jsonrpc: '2.0', id: 2, method: 'no/such/method' },
      { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 7 } },
      { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'recent', arguments: [] } },
      { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'recent' } },
    ].map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
    const result = await steward(['mcp'], { home: home.path, input: `${lines.join('\n')}\n` });
    expect(result.code).to.equal(0);
    const answers = result.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number | null; error?: { code: number }; result?: object });
    expect(answers.filter(({ id }) => id !== null).map(({ id }) => id).sort()).to.deep.equal([1, 2, 3, 4, 5]); // prettier-ignore
    const codes = new Map(answers.map(({ id, error }) => [id, error?.code]));
    // A line that is no JSON, and JSON that is no message.
    const unknown = answers.filter(({ id }) => id === null).map(({ error }) => error?.code);
    expect(unknown).to.deep.equal([-32700, -32600]);
    expect([codes.get(2), codes.get(5)]).to.deep.equal([-32601, undefined]);
    expect(codes.get(3)).to.be.lessThan(-32000);
    expect(result.stderr).to.match(/^Ignored invalid input: /);
    expect(result.stderr).to.match(/: not a JSON-RPC 2\.0 message\.\s*$/m);
    expect(result.stderr).to.not.match(/\u001b|invalid_union/);
  });

  it('finishes the calls in progress when stdin ends, even after an unterminated line', async () => {
    const setup = await steward(['work', 'setup', 'ann/work', '--json'], { home: home.path, env: env() });
    expect(setup.code, setup.stderr).to.equal(0);
    const lines = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } }, // prettier-ignore
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      ...[2, 3, 4].map((id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'list_issues' },
      })),
    ].map((line) => JSON.stringify(line));
    const result = await steward(['mcp'], { home: home.path, env: env(), input: lines.join('\n') });
    const answers = result.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; result?: { isError?: boolean } });
    expect(answers.map(({ id }) => id).sort()).to.deep.equal([1, 2, 3, 4]);
    expect(answers.some(({ result: answer }) => answer?.isError === true)).to.equal(false);
    expect(result).to.include({ code: 0, stderr: '' });
  });

  it('drops a line over 10 MiB and answers the next one (slow)', async () => {
    const long = (id: number, bytes: number): string =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params: { text: 'x'.repeat(bytes) } });
    const mib = 1024 * 1024;
    const lines = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } }, // prettier-ignore
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ].map((line) => JSON.stringify(line));
    lines.push(long(2, 9 * mib), long(3, 10 * mib), long(4, 40 * mib), long(5, 10));
    const result = await steward(['mcp'], { home: home.path, input: `${lines.join('\n')}\n` });
    const answers = result.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number | null; error?: { code: number; message: string } });
    expect(answers.map(({ id, error }) => [id, error?.code ?? null])).to.have.deep.members([
      [1, null],
      [2, null],
      [null, -32600],
      [null, -32600],
      [5, null],
    ]);
    expect(answers.find(({ id }) => id === null)?.error?.message).to.match(/10 MiB/);
    expect(result.code).to.equal(0);
  });

  it('ends when stdin closes and on SIGTERM', async () => {
    const silent = await steward(['mcp'], { home: home.path });
    expect(silent).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    if (process.platform === 'win32') return;
    const child = spawn(process.execPath, [BIN, 'mcp'], { env: cleanEnv(home.path), stdio: 'pipe' });
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`);
    await new Promise((done) => child.stdout.once('data', done));
    const ended = new Promise((done) => child.once('exit', (code, signal) => done([code, signal])));
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
  });
});
