import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { bareEnvironment } from '../helpers/git';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { issuesOf } from '../helpers/work-kill';

describe('work capture by the hooks (built)', function () {
  this.timeout(180_000);
  let github: GitHub;
  let home: ReturnType<typeof emptyHome>;
  let area: string;
  const env = (): Record<string, string> => ({ GITHUB_API_URL: github.url, GH_TOKEN: github.token });
  beforeEach(async () => {
    home = emptyHome();
    area = join(home.path, '.steward');
    github = await startGitHub({ labels: true });
  });
  afterEach(async () => {
    await idle();
    home.remove();
    await github.close();
  });

  const run = (...args: string[]): Promise<StewardResult> => steward(args, { home: home.path, env: env() });
  const setUp = async (): Promise<void> => {
    const made = await run('work', 'setup', 'ann/work', '--json');
    expect(made.code, made.stderr).to.equal(0);
  };
  const hook = (verb: 'prompt' | 'session-end' | 'session-start', changes: object, ...flags: string[]) =>
    steward(['hook', verb, ...flags], { home: home.path, env: env(), input: hookJson(verb, { cwd: home.path, ...changes }) }); // prettier-ignore
  /** What was captured is sent, and nobody is at it any more. */
  const idle = async (): Promise<void> => {
    const drained = await run('work', 'deliver', '--json');
    expect(drained.code, drained.stderr).to.equal(0);
  };
  const titles = async (): Promise<string[]> =>
    (await issuesOf(github, 'ann/work')).map(({ title }) => title);

  it('a prompt becomes one issue in a session; the user sees it, and no other text is sent', async () => {
    await setUp();
    const prompt = 'please fix SECRET-PROMPT\nremind me to call Ann, the password is hunter22';
    const first = await hook('prompt', { prompt }, '--strict', '--no-tab');
    expect(first).to.include({ code: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).to.deep.equal({
      systemMessage:
        'Captured for the work repository: reminder: call Ann, the password is [redacted] (to undo, run "steward work undo")',
    });
    expect((await hook('prompt', { prompt }, '--strict', '--no-tab')).stdout).to.equal('');
    await until('the issue', async () => (await titles()).length > 0);
    await idle();
    expect(await titles()).to.deep.equal(['[Reminder] call Ann, the password is [redacted]']);
    const sent = github.seen.map(({ body }) => body).join('\n');
    expect(sent).to.not.include('SECRET-PROMPT').and.not.include('hunter22');
    expect(readFileSync(join(area, 'observability', 'hooks.jsonl'), 'utf8')).to.not.include('Ann');
  });

  it('a prompt with nothing to queue, or a repeated one, gets a clear response', async () => {
    await setUp();
    const told = async (prompt: string): Promise<string> =>
      (JSON.parse((await hook('prompt', { prompt }, '--no-tab')).stdout) as { systemMessage: string })
        .systemMessage;
    expect(await told('queue this')).to.match(/^Nothing queued\. Name the task, for example: /);
    expect(await told('queue this for later')).to.match(/^Nothing queued\. /);
    expect(await told('remind me to water the plants every monday at 9')).to.equal(
      'Captured for the work repository: reminder: water the plants every monday at 9 (to undo, run "steward work undo"). Recurring reminders are not supported, so the reminder has no due time.',
    );
    await until('the issue', async () => (await titles()).length > 0);
    await idle();
    expect(await titles()).to.deep.equal(['[Reminder] water the plants every monday at 9']);
    expect(await told('remind me to call Ann on 31 November')).to.match(
      /\. "on 31 November" is not a future time, so the reminder has no due time\.$/,
    );
    expect(await told('remind me to pay the gas bill today')).to.match(/undo"\)$/);
    await until('both issues', async () => (await titles()).length > 2);
    await idle();
    const bodyOf = async (words: string): Promise<string | null | undefined> =>
      (await issuesOf(github, 'ann/work')).find(({ title }) => title.includes(words))?.body;
    for (const words of ['water the plants', '31 November'])
      expect(await bodyOf(words)).to.not.include('due=');
    expect(await bodyOf('pay the gas bill'))
      .to.include('due=')
      .and.include('pay the gas bill today');
    const refused = await run('work', 'remind', 'water the plants every monday', '--json');
    expect([refused.code, refused.stderr.includes('Recurring reminders are not supported')]).to.deep.equal([
      2,
      true,
    ]);
  });

  it('undo removes the captures of the last prompt, after a confirmation or with --yes', async () => {
    await setUp();
    const away = { GITHUB_API_URL: 'http://127.0.0.1:9', GH_TOKEN: github.token };
    const say = (prompt: string, more: Record<string, string>) =>
      steward(['hook', 'prompt', '--no-tab'], { home: home.path, env: more, input: hookJson('prompt', { cwd: home.path, prompt }) }); // prettier-ignore
    await say('remind me to call Cid', env());
    await until('the issue', async () => (await titles()).length > 0);
    await idle();
    await say('remind me to call Ann\nremind me to call Ben', away);
    const asked = await run('work', 'undo');
    expect([asked.code, asked.stderr.includes('Add --yes.')]).to.deep.equal([2, true]);
    const first = await run('work', 'undo', '--yes');
    expect(first.stdout).to.equal(
      'reminder: call Ann: withdrawn before it was sent\nreminder: call Ben: withdrawn before it was sent\n',
    );
    expect((await run('work', 'undo', '--yes')).stdout).to.equal('#1 call Cid: closed as not planned\n');
    expect((await run('work', 'undo')).stdout).to.equal('Nothing to undo: there are no captured prompts.\n');
    await idle();
    expect(await titles()).to.deep.equal(['[Reminder] call Cid']);
  });

  it('the whole prompt is stored if configured, in any spelling, without secrets', async () => {
    await setUp();
    const work = join(area, 'config.yaml');
    const template = readFileSync(work, 'utf8');
    const say = (subject: string, more: object = {}): Promise<StewardResult> =>
      hook('prompt', { prompt: `WHOLE-${subject}, the password is hunter22\nqueue ${subject} for later`, ...more }, '--no-tab'); // prettier-ignore
    const told = async (result: Promise<StewardResult>): Promise<string> =>
      (JSON.parse((await result).stdout) as { systemMessage: string }).systemMessage;
    expect(await told(say('one'))).to.include('Captured for the work repository: queue: one (');
    expect(jsonOf(await run('config', 'set', 'WORK.CAPTURE_PROMPT', 'whole', '--json'))).to.include({
      key: 'WORK.CAPTURE_PROMPT',
    });
    expect(await told(say('two'))).to.include('work repository, with the whole prompt: queue: two (');
    // It goes as it is configured when it goes.
    await idle();
    // By hand, as YAML allows it.
    const withLines = (...lines: string[]): string =>
      template.replace(/^WORK:\n/m, ['WORK:', ...lines, ''].join('\n'));
    writeFileSync(work, withLines('  "CAPTURE_PROMPT":', "    'line'"));
    expect(await told(say('three'))).to.include('work repository: queue: three (');
    writeFileSync(work, withLines('  ? CAPTURE_PROMPT', '  : "whole" # all'));
    expect(await told(say('four'))).to.include('with the whole prompt: queue: four (');
    const plan = await say('five', {}).then(() => hook('prompt', { prompt: 'WHOLE\nqueue six for later' }, '--dry-run', '--json')); // prettier-ignore
    expect((jsonOf(plan) as { matches: object[] }).matches).to.deep.equal([
      { kind: 'queue', title: '[Queue] six', due: null, labels: ['Type:queue', 'Status:queued'], body: 'Captured from a prompt:\n\n```text\nWHOLE\nqueue six for later\n```' },
    ]); // prettier-ignore
    mkdirSync(join(home.path, 'customer'));
    writeFileSync(join(home.path, 'customer', 'RESTRICTED.md'), '');
    expect(
      (await say('seven', { cwd: join(home.path, 'customer'), session_id: 'customer' })).stdout,
    ).to.equal('');
    await until('the issues', async () => {
      await idle();
      return (await titles()).length === 5;
    }); // prettier-ignore
    const sent = github.seen.map(({ body }) => body).join('\n');
    const whole = ['one', 'two', 'three', 'four', 'five', 'seven'].filter((name) =>
      sent.includes(`WHOLE-${name}`),
    );
    expect(whole).to.deep.equal(['two', 'four', 'five']);
    expect(sent).to.not.include('hunter22');
    expect(readFileSync(join(area, 'observability', 'hooks.jsonl'), 'utf8')).to.not.include('WHOLE');
    // A file that cannot be read captures nothing.
    writeFileSync(work, withLines('  CAPTURE_PROMPT: [whole'));
    expect(await say('eight')).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect(
      existsSync(join(area, 'state', 'spool')) && readdirSync(join(area, 'state', 'spool')).join(),
    ).to.not.match(/json/);
    expect(github.seen.map(({ body }) => body).join()).to.not.include('WHOLE-eight');
    writeFileSync(work, template);
  });

  it('an ordinary prompt loads no further modules once work is set up', async () => {
    const trace = join(home.path, 'trace.cjs');
    const out = join(home.path, 'loaded.txt');
    writeFileSync(
      trace,
      `const { Module } = require('node:module');
      const load = Module._load, seen = [];
      Module._load = function (id) { seen.push(id); return load.apply(this, arguments); };
      process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(out)}, seen.join('\\n')));`,
    );
    const loaded = async (): Promise<string> => {
      const input = hookJson('prompt', { cwd: home.path, prompt: 'please fix it' });
      const more = { ...env(), NODE_OPTIONS: `--require ${trace}` };
      const result = await steward(['hook', 'prompt', '--no-tab', '--strict'], {
        home: home.path,
        env: more,
        input,
      });
      expect(result).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      return readFileSync(out, 'utf8');
    };
    await loaded();
    const before = await loaded();
    await setUp();
    await run('config', 'set', 'WORK.CAPTURE_PROMPT', 'whole');
    // The first one after a change asks the loader.
    expect(await loaded()).to.not.equal(before);
    expect(await loaded()).to.equal(before);
  });

  it('reports that nothing is captured if the repository is not private, and stays silent if work is disabled', async () => {
    await setUp();
    await github.api('PATCH', '/repos/ann/work', { private: false, visibility: 'public' });
    expect((await run('work', 'verify')).code).to.equal(6);
    const told = await hook('prompt', { prompt: 'remind me to call Ann' }, '--no-tab', '--strict');
    expect(JSON.parse(told.stdout)).to.deep.equal({
      systemMessage:
        'Not captured: the work repository is not private. Make it private, then run `steward work verify`.',
    });
    await run('config', 'set', 'WORK.enabled', 'false');
    const off = await hook('prompt', { prompt: 'remind me to call Ann' }, '--no-tab', '--strict');
    expect(off).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect(existsSync(join(area, 'state', 'prompts-seen.json'))).to.equal(false);
  });

  it('counts captures that wait for a sign-in, says what to do, and the sweep sends them later', async () => {
    await setUp();
    const signedOut = { GITHUB_API_URL: github.url };
    const out = (...args: string[]): Promise<StewardResult> =>
      steward(args, { home: home.path, env: signedOut });
    for (const prompt of ['remind me to call Ann', 'remind me to call Ben'])
      await steward(['hook', 'prompt', '--no-tab'], { home: home.path, env: signedOut, input: hookJson('prompt', { cwd: home.path, prompt }) }); // prettier-ignore
    // The deliveries that the hooks began may end later than this one.
    await until('both tried', async () => {
      await out('work', 'deliver');
      const { waiting } = jsonOf(await out('work', 'status', '--json')) as { waiting: { count: number }[] };
      return waiting.length === 1 && waiting[0]?.count === 2;
    });
    const text = '2 captures waiting: not signed in to GitHub; run "gh auth login"';
    for (const args of [['work', 'status'], ['status'], ['work', 'sweep'], ['work', 'sweep', '--dry-run']])
      expect((await out(...args)).stdout.replace(/\s+/g, ' '), args.join(' ')).to.include(text);
    const waiting = {
      reason: 'signed-out',
      count: 2,
      message: 'not signed in to GitHub',
      fix: 'gh auth login',
    };
    for (const args of [
      ['work', 'status', '--json'],
      ['work', 'sweep', '--json'],
    ]) {
      const result = jsonOf(await out(...args)) as { waiting: object[] };
      expect(result.waiting, args.join(' ')).to.have.length(1);
      expect(result.waiting[0]).to.include(waiting);
    }
    const { parts } = jsonOf(await out('status', '--json')) as {
      parts: { id: string; found: string; fix: string }[];
    };
    const work = parts.find(({ id }) => id === 'work');
    expect(work).to.deep.include({ state: 'warning', fix: 'gh auth login' });
    expect(work?.found).to.include(text);
    // A sweep leaves the captures to a delivery that runs beside it.
    await until('both sent', async () => {
      const swept = jsonOf(await run('work', 'sweep', '--json')) as { waiting: object[] };
      return swept.waiting.length === 0;
    });
    expect((await titles()).sort()).to.deep.equal(['[Reminder] call Ann', '[Reminder] call Ben']);
  });

  it('before setup, in a restricted folder and for soft hints nothing is captured', async () => {
    expect((await hook('prompt', { prompt: 'remind me to call Ann' }, '--no-tab')).stdout).to.equal('');
    await setUp();
    writeFileSync(join(home.path, 'RESTRICTED.md'), '');
    expect((await hook('prompt', { prompt: 'remind me to call Ann' }, '--no-tab')).stdout).to.equal('');
    expect((await hook('prompt', { prompt: 'could you remind me to eat' }, '--no-tab')).stdout).to.equal('');
    await idle();
    expect(await titles()).to.deep.equal([]);
  });

  it('a prompt of restricted work stays: in a worktree, and in a session that began in such a folder', async () => {
    await setUp();
    const [secret, tree, open] = ['secret', 'tree', 'open'].map((name) => join(home.path, name));
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', String(secret), ...args], { env: bareEnvironment(home.path), encoding: 'utf8' }); // prettier-ignore
    for (const folder of [secret, open]) mkdirSync(String(folder));
    git('init', '-q');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x');
    git('worktree', 'add', '-q', String(tree));
    writeFileSync(join(String(secret), 'RESTRICTED.md'), '');
    const say = async (prompt: string, more: object, ...flags: string[]): Promise<string> =>
      (await hook('prompt', { prompt, ...more }, '--no-tab', ...flags)).stdout;
    const talks = 'queue the merger talks for later';
    expect(await say(talks, { cwd: tree, session_id: 'in-tree' })).to.equal('');
    // The session stays restricted when it moves on.
    expect(await say(talks, { cwd: open, session_id: 'in-tree' })).to.equal('');
    await hook('session-start', { cwd: secret, session_id: 'moves' });
    expect(await say(talks, { cwd: open, session_id: 'moves' })).to.equal('');
    const plan = await say(talks, { cwd: open, session_id: 'moves' }, '--dry-run', '--json');
    expect(JSON.parse(plan)).to.deep.equal({ matches: [] });
    expect(await say('queue the garden for later', { cwd: open, session_id: 'other' })).to.include(
      'Captured',
    );
    await until('the issue', async () => (await titles()).length > 0);
    await idle();
    expect(await titles()).to.deep.equal(['[Queue] the garden']);
    expect(github.seen.map(({ body }) => body).join()).to.not.include('merger');
  });

  it('the end of a session becomes its issue, and both dry runs describe it without effects', async () => {
    await setUp();
    const folder = join(area, 'sessions', 'fix-login');
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'ISA.md');
    await hook('session-start', {});
    const { session_id: session } = JSON.parse(hookJson('prompt')) as { session_id: string };
    writeFileSync(path, `---\nslug: fix-login\nsession: ${session}\ntask: Fix it\nphase: plan\n---\n`);
    const tool = { tool_name: 'Write', tool_input: { file_path: path } };
    const wrote = hookJson('tool', { cwd: home.path, ...tool });
    await steward(['hook', 'tool'], { home: home.path, env: env(), input: wrote });
    const before = github.seen.length;
    const plan = async (): Promise<unknown> => jsonOf(await hook('session-end', {}, '--dry-run', '--json'));
    expect(await plan()).to.deep.equal({
      action: 'none',
      reason: 'the session has not reached the execute phase (plan)',
      title: null,
      labels: [],
    });
    writeFileSync(path, readFileSync(path, 'utf8').replace('phase: plan', 'phase: verify'));
    const planned = (await plan()) as { labels: string[] };
    expect(planned).to.deep.include({
      action: 'create',
      title: '[Core] Fix it [slug:fix-login]',
      reason: 'the labels of ann/work are not fetched yet; missing ones are left out',
    });
    expect(jsonOf(await hook('prompt', { prompt: 'research the pricing' }, '--dry-run', '--json'))).to.deep.equal({
      matches: [{ kind: 'research', title: '[Research] the pricing', due: null, labels: ['Type:research', 'Status:queued'] }],
    }); // prettier-ignore
    expect(jsonOf(await hook('prompt', { prompt: 'hello' }, '--dry-run', '--json'))).to.deep.equal({
      matches: [],
    });
    expect(github.seen.length).to.equal(before);
    await hook('session-end', {});
    await until('the write-back', () => /\ngithub_issue: 1\n/.test(readFileSync(path, 'utf8')));
    await idle();
    expect(await titles()).to.deep.equal(['[Core] Fix it [slug:fix-login]']);
    const labels = (await issuesOf(github, 'ann/work'))[0]?.labels.map(({ name }) => name).sort();
    expect([...planned.labels].sort()).to.deep.equal(labels);
    expect(await plan()).to.deep.include({ action: 'none', reason: 'the issue already has this Status' });
    // The phase that a notification has said since.
    const said = await run(
      'notify',
      'send',
      'Learning',
      '--phase',
      'learn',
      '--slug',
      'fix-login',
      '--no-voice',
    );
    expect(said.code, said.stderr).to.equal(0);
    await run('notify', 'send', 'Done', '--phase', 'complete', '--slug', 'fix-login', '--no-voice');
    expect(await plan()).to.deep.include({ action: 'update', reason: null, labels: ['Status:done'] });
    await hook('session-end', {});
    await until('the Status', async () => {
      await idle();
      const [issue] = await issuesOf(github, 'ann/work');
      return issue?.labels.some(({ name }) => name === 'Status:done') === true;
    });
    const place = join(home.path, 'customer');
    mkdirSync(place);
    writeFileSync(join(place, 'RESTRICTED.md'), '');
    const kept = jsonOf(await hook('session-end', { cwd: place }, '--dry-run', '--json'));
    expect(kept).to.deep.include({
      action: 'none',
      reason: 'the session is restricted',
    });
    expect(existsSync(join(folder, 'RESTRICTED.md'))).to.equal(false);
  });

  it('a session that crashed in a restricted folder is never sent', async () => {
    await setUp();
    const place = join(home.path, 'customer');
    mkdirSync(place);
    writeFileSync(join(place, 'RESTRICTED.md'), '');
    const { session_id: session } = JSON.parse(hookJson('prompt')) as { session_id: string };
    const folder = join(area, 'sessions', 'secret-work');
    const path = join(folder, 'ISA.md');
    await hook('session-start', { cwd: place });
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, `---\nslug: secret-work\nsession: ${session}\ntask: Hush\nphase: execute\n---\n`);
    const tool = { cwd: place, tool_name: 'Write', tool_input: { file_path: path } };
    await steward(['hook', 'tool'], { home: home.path, env: env(), input: hookJson('tool', tool) });
    // It crashed; the log of its hooks is gone as well, so that nothing says that it goes on.
    rmSync(join(area, 'state'), { recursive: true });
    const swept = jsonOf(await run('work', 'sweep', '--json'));
    expect(swept).to.include({ sessionsScanned: 0, created: 0 });
    expect(github.seen.map(({ body }) => body).join()).to.not.include('Hush');
  });

  it('text that a shell wrote in a restricted folder, in a first turn that crashed, is never sent', async () => {
    await setUp();
    const place = join(home.path, 'customer');
    mkdirSync(place);
    writeFileSync(join(place, 'RESTRICTED.md'), '');
    const write = (slug: string, text: string): void => {
      mkdirSync(join(area, 'sessions', slug), { recursive: true });
      writeFileSync(join(area, 'sessions', slug, 'ISA.md'), `---\n${text}\nphase: execute\n---\n`);
    };
    write('before', 'task: From another day');
    const old = Date.now() / 1000 - 7200;
    utimesSync(join(area, 'sessions', 'before', 'ISA.md'), old, old);
    await hook('session-start', { cwd: place });
    await hook('prompt', { cwd: place, prompt: 'fix the login of the bank' }, '--no-tab');
    const tool = { cwd: place, tool_name: 'Bash', tool_input: { command: 'make' } };
    await steward(['hook', 'tool'], { home: home.path, env: env(), input: hookJson('tool', tool) });
    // No tool has named these files; and here it crashes.
    write('secret-work', 'task: Hush');
    const { session_id: session } = JSON.parse(hookJson('prompt')) as { session_id: string };
    write('named', `session: ${session}\ntask: Hush too`);
    write('of-another', 'session: somebody-else\ntask: Of somebody');
    const titlesOf = (): unknown => (jsonOf(swept) as { titles: string[] }).titles;
    let swept = await run('work', 'sweep', '--json');
    expect(titlesOf()).to.have.members([
      '[Sweep] From another day [slug:before]',
      '[Sweep] Of somebody [slug:of-another]',
    ]);
    // The state forgets sessions; their folders do not.
    rmSync(join(area, 'state'), { recursive: true });
    swept = await run('work', 'sweep', '--json');
    expect(titlesOf()).to.deep.equal([]);
    expect(github.seen.map(({ body }) => body).join()).to.not.include('Hush');
  });
});
