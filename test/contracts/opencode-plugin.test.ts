import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { until } from '../helpers/daemon';
import { scratch } from '../helpers/scratch';
import { long } from '../helpers/long';

const TEMPLATE = resolve(__dirname, '..', '..', 'templates', 'opencode-plugin.js');

interface Plugin {
  id: string;
  server: (input: object) => Promise<Record<string, (...args: object[]) => Promise<void>>>;
  setup: (ctx: object) => Promise<(() => void) | undefined>;
}

type Call = [verb: string, payload: Record<string, unknown>];

describe('the OpenCode plugin', function () {
  this.timeout(30_000);
  const box = scratch();
  before(function () {
    if (process.platform === 'win32') this.skip();
  });

  /** The plugin as it is installed, with a shim that writes down its calls. */
  async function load(): Promise<Plugin> {
    const shim = box.path('shim');
    writeFileSync(shim, `#!/bin/sh\n{ printf '%s ' "$*"; cat; echo; } >>'${box.path('calls')}'\n`);
    chmodSync(shim, 0o755);
    const path = box.path('steward.mjs');
    writeFileSync(path, readFileSync(TEMPLATE, 'utf8').replace("'@SHIM@'", JSON.stringify(shim)));
    // TypeScript would turn import() into require().
    const load = new Function('url', 'return import(url)') as (url: string) => Promise<{ default: Plugin }>;
    return (await load(`${pathToFileURL(path).href}?${Math.random()}`)).default;
  }

  async function calls(count: number): Promise<Call[]> {
    // The last part is empty, or a line that the shim is still writing.
    const read = (): string[] =>
      existsSync(box.path('calls')) ? readFileSync(box.path('calls'), 'utf8').split('\n').slice(0, -1) : [];
    await until(`${count} calls`, () => read().length >= count, 20_000);
    return read().map((line) => {
      const [verb = '', assistant, ...json] = line.split(' ');
      expect(assistant).to.equal('opencode');
      return [verb, JSON.parse(json.join(' ')) as Record<string, unknown>];
    });
  }

  long('reports what OpenCode 1 does, by changes of state', async () => {
    const { id, server } = await load();
    expect(id).to.equal('steward');
    const hooks = await server({ directory: '/src/site' });
    const event = (type: string, properties: object) => hooks['event']?.({ event: { type, properties } });
    await event('session.created', { info: { id: 's1', directory: '/src/site' } });
    await hooks['chat.message']?.({ sessionID: 's1' }, { parts: [{ type: 'text', text: 'fix it' }] });
    await hooks['tool.execute.before']?.({ tool: 'bash', sessionID: 's1' }, { args: { command: 'SECRET' } });
    const request = (id: string, permission: string) =>
      event('permission.asked', { id, sessionID: 's1', permission, metadata: { x: 'SECRET' } });
    await request('per_1', 'bash');
    await request('per_2', 'edit');
    for (const requestID of ['per_2', 'per_1', 'per_1'])
      await event('permission.replied', { requestID, sessionID: 's1', reply: 'once' });
    await hooks['tool.execute.after']?.({
      tool: 'write',
      sessionID: 's1',
      args: { filePath: '/a', content: 'SECRET' },
    });
    await event('session.created', { info: { id: 's2', directory: '/src/site', parentID: 's1' } });
    await event('session.idle', { sessionID: 's2' });
    await event('message.updated', { info: { id: 'm1', role: 'user', sessionID: 's1' } });
    await event('message.part.updated', {
      part: { type: 'text', text: 'SECRET', messageID: 'm1', sessionID: 's1' },
    });
    for (const text of ['D', 'Do', 'Done.'])
      await event('message.part.updated', { part: { type: 'text', text, messageID: 'm2', sessionID: 's1' } });
    await event('something.new', { sessionID: 's1' });
    await event('session.idle', { sessionID: 's1' });
    await event('session.deleted', { info: { id: 's1' } });
    const made = await calls(12);
    expect(JSON.stringify(made)).not.to.include('SECRET');
    expect(
      made.map(([verb, { session_id: session, hook_event_name: name }]) => [verb, session, name]),
    ).to.deep.equal([
      ['session-start', 's1', 'SessionStart'],
      ['prompt', 's1', 'UserPromptSubmit'],
      ['tool', 's1', 'PreToolUse'],
      ['notification', 's1', 'PermissionRequest'],
      ['notification', 's1', 'PermissionRequest'],
      ['tool', 's1', 'PostToolUse'],
      ['tool', 's1', 'PostToolUse'],
      ['tool', 's1', 'PostToolUse'],
      ['subagent-start', 's1', 'SubagentStart'],
      ['subagent-stop', 's1', 'SubagentStop'],
      ['stop', 's1', 'Stop'],
      ['session-end', 's1', 'SessionEnd'],
    ]);
    expect(made.map(([, { cwd }]) => cwd)).to.deep.equal(made.map(() => '/src/site'));
    expect(made[1]?.[1]).to.include({ prompt: 'fix it' });
    expect(made.slice(5, 7).map(([, { tool_name: tool }]) => tool)).to.deep.equal(['edit', 'bash']);
    expect(made[7]?.[1]).to.deep.include({ tool_name: 'write', tool_input: { file_path: '/a' } });
    expect(made[8]?.[1]).to.include({ agent_id: 's2' });
    expect(made[10]?.[1]).to.include({ last_assistant_message: 'Done.' });
  });

  long('reports how a turn of OpenCode 1 ended, once', async () => {
    const { server } = await load();
    const hooks = await server({ directory: '/src/site' });
    const event = (type: string, more: object = {}) =>
      hooks['event']?.({ event: { type, properties: { sessionID: 's1', ...more } } });
    const turn = async (error: object, isCompacted = false): Promise<void> => {
      await hooks['chat.message']?.({ sessionID: 's1' }, { parts: [{ type: 'text', text: 'go' }] });
      await event('session.error', { error });
      if (isCompacted) await event('session.status', { status: { type: 'busy' } });
      for (let times = 0; times < 2; times += 1) await event('session.idle');
    };
    const failed = (statusCode: number): object => ({
      name: 'APIError',
      data: { message: 'resets 6pm', statusCode },
    });
    await turn({ name: 'MessageAbortedError', data: { message: 'Aborted' } });
    for (const status of [429, 401, 503, 400]) await turn(failed(status));
    await turn({ name: 'ProviderAuthError', data: {} });
    await turn({ name: 'MessageOutputLengthError', data: {} });
    await turn({ name: 'ContextOverflowError', data: {} }, true);
    const ends = (await calls(16)).filter(([verb]) => verb === 'stop').map(([, payload]) => payload);
    expect(ends.map(({ hook_event_name: name, error }) => [name, error])).to.deep.equal([
      ['Interrupt', undefined],
      ['StopFailure', 'rate_limit'],
      ['StopFailure', 'authentication_failed'],
      ['StopFailure', 'server_error'],
      ['StopFailure', 'unknown'],
      ['StopFailure', 'authentication_failed'],
      ['StopFailure', 'max_output_tokens'],
      ['Stop', undefined],
    ]);
    expect(ends[1]).to.include({ last_assistant_message: 'resets 6pm' });
  });

  long('reports a resumed subagent as part of its session, also after a restart', async () => {
    for (const restarted of [false, true]) {
      const { server } = await load();
      const hooks = await server({ directory: '/src/site' });
      const event = (type: string, properties: object) => hooks['event']?.({ event: { type, properties } });
      const prompt = (sessionID: string) =>
        hooks['chat.message']?.({ sessionID }, { parts: [{ type: 'text', text: 'go' }] });
      if (!restarted) {
        await event('session.created', { info: { id: 's1' } });
        await event('session.created', { info: { id: 's2', parentID: 's1' } });
        await prompt('s2');
        await event('session.idle', { sessionID: 's2' });
        await event('session.idle', { sessionID: 's2' });
      }
      await hooks['tool.execute.before']?.({ tool: 'task', sessionID: 's1' }, { args: { task_id: 's2' } });
      await prompt('s2');
      await hooks['tool.execute.before']?.({ tool: 'bash', sessionID: 's2' }, { args: {} });
      await event('session.updated', { info: { id: 's3', parentID: 's2' } });
      await event('permission.asked', { sessionID: 's3', permission: 'bash' });
      await event('session.idle', { sessionID: 's2' });
      await event('session.idle', { sessionID: 's1' });
      await calls(restarted ? 15 : 9);
    }
    const resumed = [
      ...[['tool', undefined], ['subagent-start', 's2'], ['tool', 's2'], ['notification', 's3']], // prettier-ignore
      ...[['subagent-stop', 's2'], ['stop', undefined]], // prettier-ignore
    ];
    const made = await calls(15);
    expect(made.map(([verb, { agent_id: agent }]) => [verb, agent])).to.deep.equal([
      ...[['session-start', undefined], ['subagent-start', 's2'], ['subagent-stop', 's2']], // prettier-ignore
      ...resumed,
      ...resumed,
    ]);
    expect(new Set(made.map(([, { session_id: id }]) => id))).to.deep.equal(new Set(['s1']));
  });

  long('ends the open sessions of a folder when OpenCode 1 exits', async () => {
    const { server } = await load();
    const [site, other] = [
      await server({ directory: '/src/site' }),
      await server({ directory: '/src/other' }),
    ];
    const start = (hooks: typeof site, id: string, more = {}) =>
      hooks['event']?.({ event: { type: 'session.created', properties: { info: { id, ...more } } } });
    for (const id of ['s1', 's2']) await start(site, id);
    await start(site, 's3', { parentID: 's1' });
    await start(other, 'o1');
    await site['event']?.({ event: { type: 'session.deleted', properties: { info: { id: 's2' } } } });
    await site['dispose']?.();
    const ended = (await calls(6)).filter(([verb]) => verb === 'session-end');
    expect(ended.map(([, { session_id: id, reason }]) => [id, reason])).to.deep.equal([
      ['s2', 'deleted'],
      ['s1', 'exit'],
    ]);
  });

  long(
    'reports what OpenCode 2 does, once, and does nothing in the context that OpenCode 1 gives',
    async () => {
      const { setup } = await load();
      expect(await setup({ agent: {} })).to.equal(undefined);
      const at = { location: { directory: '/src/site' } };
      const event = (id: string, type: string, data: object) => ({ id, type, data, ...at });
      const events = [
        event('e1', 'session.created', { sessionID: 's1' }),
        event('e1', 'session.created', { sessionID: 's1' }),
        event('e2', 'session.inbox.enqueued', {
          sessionID: 's1',
          item: { type: 'user', payload: { text: 'fix' } },
        }),
        event('e3', 'permission.asked', { sessionID: 's1', action: 'shell', resources: ['SECRET'] }),
        event('e4', 'permission.replied', { sessionID: 's1' }),
        event('e5', 'form.created', { form: { sessionID: 's1' } }),
        event('e6', 'session.text.ended', { sessionID: 's1', text: 'Done.' }),
        event('e7', 'session.execution.interrupted', { sessionID: 's1', reason: 'user' }),
      ];
      let hooked = 0;
      const stop = await setup({
        event: { subscribe: () => stream(events) },
        tool: { hook: () => Promise.resolve((hooked += 1)) },
        ...at,
      });
      const made = await calls(6);
      expect(hooked).to.equal(2);
      stop?.();
      expect(JSON.stringify(made)).not.to.include('SECRET');
      expect(made.map(([verb, { hook_event_name: name }]) => [verb, name])).to.deep.equal([
        ['session-start', 'SessionStart'],
        ['prompt', 'UserPromptSubmit'],
        ['notification', 'PermissionRequest'],
        ['tool', 'PostToolUse'],
        ['notification', 'Notification'],
        ['stop', 'Interrupt'],
      ]);
      expect(made[4]?.[1]).to.include({ notification_type: 'elicitation_dialog', cwd: '/src/site' });
    },
  );

  long('drops only events of tools if the shim takes long', async () => {
    const gate = box.path('gate');
    spawnSync('mkfifo', [gate]);
    const { server } = await load();
    writeFileSync(box.path('shim'), `#!/bin/sh\ncat '${gate}'\n${readFileSync(box.path('shim'), 'utf8')}`);
    const hooks = await server({ directory: '/src/site' });
    for (let count = 0; count < 200; count += 1)
      await hooks['tool.execute.before']?.({ tool: 'bash', sessionID: 's1' }, { args: {} });
    const properties = { sessionID: 's1', permission: 'bash' };
    await hooks['event']?.({ event: { type: 'permission.asked', properties } });
    await hooks['event']?.({ event: { type: 'session.idle', properties } });
    // Opens the fifo at both ends, so that no shim waits any more.
    const open = openSync(gate, 'r+');
    unlinkSync(gate);
    writeFileSync(gate, '');
    closeSync(open);
    const verbs = (await calls(66)).map(([verb]) => verb);
    expect(verbs).to.deep.equal([...Array<string>(64).fill('tool'), 'notification', 'stop']);
  });

  it('does not mind a shim that is missing', async () => {
    const { server } = await load();
    chmodSync(box.path('shim'), 0o600);
    const hooks = await server({ directory: '/src/site' });
    for (const id of ['a', 'b'])
      await hooks['event']?.({ event: { type: 'session.created', properties: { info: { id } } } });
    await hooks['event']?.({ event: { type: 'session.created', properties: null } });
    chmodSync(box.path('shim'), 0o755);
    await hooks['event']?.({ event: { type: 'session.idle', properties: { sessionID: 'a' } } });
    // The plugin starts shims one after another, so an earlier one may find it again.
    await until(
      'a stop',
      () => existsSync(box.path('calls')) && /^stop .*\n/m.test(readFileSync(box.path('calls'), 'utf8')),
    );
  });
});

async function* stream(events: readonly object[]): AsyncGenerator<object> {
  yield* events;
  await Promise.resolve();
}
