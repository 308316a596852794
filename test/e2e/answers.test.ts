import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';

const ID = 'aaaaaaaa-2222-3333-4444-555555555555';
const SETTINGS = '{"model":"x"}\n';

describe('answers from elsewhere (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  let settings: string;

  beforeEach(() => {
    home = emptyHome();
    settings = join(home.path, '.claude', 'settings.json');
    mkdirSync(join(home.path, '.claude'));
    writeFileSync(settings, SETTINGS);
  });
  afterEach(() => home.remove());

  const run = (args: readonly string[], input = ''): Promise<StewardResult> =>
    steward(args, { home: home.path, input });
  const request = (event: string, tool: string, input: object): string =>
    JSON.stringify({
      session_id: ID,
      cwd: home.path,
      hook_event_name: event,
      permission_mode: 'default',
      tool_name: tool,
      tool_input: input,
    });

  it('are explained, and change nothing without a terminal', async () => {
    const { code, stdout, stderr } = await run(['answers', 'setup']);
    expect(code).to.equal(0);
    expect(stderr).to.include('While you are away');
    expect(stdout).to.include('Nothing was changed.');
    expect(readFileSync(settings, 'utf8')).to.equal(SETTINGS);
  });

  it('are set up with two hooks beside the others, tested, and removed byte for byte', async () => {
    expect((await run(['hooks', 'install', '--no-skill'])).code).to.equal(0);
    const before = readFileSync(settings, 'utf8');
    const result = await run(['answers', 'setup', '--yes', '--json']);
    expect(jsonOf(result), result.stderr).to.deep.equal({
      enabled: true,
      hooks: [
        { assistant: 'Claude Code', settings, events: ['PreToolUse', 'PermissionRequest'], then: null },
      ],
      missing: null,
      test: 'deny',
      presence: 'unknown',
    });
    const again = await run(['answers', 'setup']);
    expect(again.stderr, 'no question where it is on').to.equal('');
    expect(again.stdout).to.include('Answers from elsewhere are on.').and.not.include('Nothing is held yet');
    expect(readFileSync(settings, 'utf8').match(/steward-hook answer/g)).to.have.length(2);
    expect(before).not.to.include('steward-hook answer');
    await run(['answers', 'setup', '--yes']);
    expect(readFileSync(settings, 'utf8').match(/steward-hook answer/g)).to.have.length(2);
    const { checks } = jsonOf(await run(['doctor', 'hooks', '--json'])) as {
      checks: { id: string; found: string }[];
    };
    expect(checks.find(({ id }) => id === 'hooks.registered')?.found).to.match(/^12 hooks in /);
    expect((await run(['uninstall', 'hooks'])).code).to.equal(0);
    expect(readFileSync(settings, 'utf8')).to.equal(SETTINGS);
  });

  it('say that nothing is held without the hooks of sessions, and how to install them', async () => {
    const { stdout } = await run(['answers', 'setup', '--yes']);
    expect(stdout.replace(/\s+/g, ' ')).to.match(
      /Nothing is held yet: Claude Code: \d+ of \d+ hooks registered\. To install the hooks: steward install hooks/,
    );
    expect((await run(['hooks', 'install', '--no-skill'])).code).to.equal(0);
    expect((await run(['answers', 'setup', '--yes'])).stdout).not.to.include('Nothing is held yet');
  });

  it('are set up with Codex where its hooks are installed, and wait for its trust', async () => {
    expect((await run(['hooks', 'install', '--assistant', 'codex'])).code).to.equal(0);
    const { stdout } = await run(['answers', 'setup', '--yes']);
    const hooks = join(home.path, '.codex', 'hooks.json');
    expect(stdout).to.include(
      `Codex CLI: PermissionRequest in ${hooks}; not trusted yet: run /hooks in codex`,
    );
    expect(readFileSync(hooks, 'utf8').match(/steward-hook answer codex/g)).to.have.length(1);
    expect((await run(['uninstall', 'hooks'])).code).to.equal(0);
    expect(existsSync(hooks)).to.equal(false);
  });

  it('leave a request to the assistant unless you are measured to be away', async () => {
    await run(['answers', 'setup', '--yes']);
    await run(['hook', 'session-start'], JSON.stringify({ session_id: ID, cwd: home.path }));
    const question = { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }] };
    const inputs = [
      request('PermissionRequest', 'Bash', { command: 'rm -r /' }),
      request('PermissionRequest', 'AskUserQuestion', question),
      request('PreToolUse', 'ExitPlanMode', { plan: 'All of it' }),
      'no JSON',
      '',
    ];
    for (const input of inputs) {
      const answered = await run(['hook', 'answer'], input);
      expect(answered, input).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    }
    expect((jsonOf(await run(['inbox', '--json'])) as { rows: { ask?: object }[] }).rows).to.satisfy(
      (rows: { ask?: object }[]) => rows.every(({ ask }) => ask === undefined),
    );
  });
});
