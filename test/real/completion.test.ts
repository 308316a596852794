import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { cacheText } from '../../src/lib/work/cache';
import { askIn } from '../helpers/asks';
import { BIN, cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { hookJson } from '../helpers/hooks';
import { manyCached, manyIssues } from '../helpers/large-data';
import { requirePrograms } from '../helpers/real-part';

describe('completion in the real shells', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let asked: string;

  beforeEach(() => {
    home = emptyHome();
  });

  afterEach(() => {
    home.remove();
  });

  /** Writes the shell's script to a file and gives its path. */
  async function scriptOf(shell: string): Promise<string> {
    const { stdout, code } = await steward(['completion', shell]);
    expect(code).to.equal(0);
    const path = join(home.path, `steward.${shell}`);
    writeFileSync(path, stdout);
    return path;
  }

  function shell(program: string, args: string[], env: Record<string, string> = {}): string {
    const result = spawnSync(program, args, {
      env: cleanEnv(home.path, env),
      encoding: 'utf8',
      cwd: home.path,
      timeout: 60_000,
    });
    expect(result.stderr).to.equal('');
    expect(result.status).to.equal(0);
    return result.stdout;
  }

  const at = (...names: string[]): string => join(home.path, ...names);
  const HOSTILE = '$(touch pwned)`touch pwned`;touch pwned';

  /** Starts a session in a repository of that name, and returns its slug. */
  async function startSession(repo: string, id: string): Promise<string> {
    mkdirSync(at(repo, '.git'), { recursive: true });
    writeFileSync(at(repo, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    const input = hookJson('session-start', { cwd: at(repo), session_id: id });
    expect((await steward(['hook', 'session-start'], { home: home.path, input })).code).to.equal(0);
    const { sessions } = jsonOf(await steward(['sessions', '--json'], { home: home.path })) as {
      sessions: { slug: string; sessionIds: string[] }[];
    };
    return sessions.find(({ sessionIds }) => sessionIds.includes(id))?.slug ?? '';
  }

  /** Two sessions, three issues with one that is closed and one reminder, and steward on the PATH. */
  async function worldWithNames(): Promise<{ slug: string; env: Record<string, string> }> {
    await startSession('shop', 'one');
    expect((await steward(['sessions', 'name', 'shop', 'big (sale)'], { home: home.path })).code).to.equal(0);
    const slug = await startSession(HOSTILE, 'two');
    const files = manyIssues(3, Date.now());
    const cache = manyCached(3, Date.now());
    const changes = [
      { number: 11, state: 'open' as const, title: `A ${HOSTILE}: "b"`, labels: ['Type:reminder'] },
      { number: 12, state: 'open' as const, labels: ['Type:feature'] },
      { number: 13, state: 'closed' as const, labels: ['Type:feature'] },
    ];
    cache.issues = cache.issues.map((issue, index) => ({ ...issue, ...changes[index] }));
    files['cache.json'] = cacheText(cache);
    mkdirSync(at('.steward', 'work'), { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(files)) writeFileSync(at('.steward', 'work', name), text);
    asked = await askIn(home.path, `Which ${HOSTILE}?`, []);
    mkdirSync(at('bin'));
    const program = `#!/bin/sh\necho "$*" >>"${at('calls')}"\nexec "${process.execPath}" "${BIN}" "$@"\n`;
    writeFileSync(at('bin', 'steward'), program, { mode: 0o755 });
    return { slug, env: { PATH: `${at('bin')}:${process.env['PATH'] ?? ''}` } };
  }

  it('bash', async function () {
    requirePrograms(this, { bash: 'bash' });
    const script = await scriptOf('bash');
    const complete = (line: string): string[] =>
      shell('bash', [
        '--norc',
        '-c',
        `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _steward; printf '%s\\n' "\${COMPREPLY[@]}"`,
        script,
        ...line.split(' '),
      ])
        .split('\n')
        .filter((word) => word !== '');
    expect(complete('steward se')).to.deep.equal(['sense', 'sessions']);
    expect(complete('steward sense exp')).to.deep.equal(['export']);
    expect(complete('steward sense export --j')).to.deep.equal(['--json']);
    expect(complete('steward --json sense exp')).to.deep.equal(['export']);
    expect(complete('steward completion ')).to.deep.equal(['bash', 'zsh', 'fish']);
    expect(complete('steward config add sense.re')).to.deep.equal(['sense.repos', 'sense.retentionDays']);
    expect(complete('steward nonsense x')).to.deep.equal([]);
    expect(shell('bash', ['--norc', '-c', 'source "$0"; complete -p steward', script])).to.include(
      '-F _steward steward',
    );
  });

  it('bash, with names of sessions, issues and rows', async function () {
    requirePrograms(this, { bash: 'bash' });
    const script = await scriptOf('bash');
    const { slug, env } = await worldWithNames();
    const complete = (...line: string[]): string[] =>
      shell(
        'bash',
        [
          '--norc',
          '-c',
          `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _steward; printf '%s\\n' "\${COMPREPLY[@]}"`,
          script,
          'steward',
          ...line,
        ],
        env,
      )
        .split('\n')
        .filter((word) => word !== '');
    expect(complete('go', '')).to.have.members(['big\\ \\(sale\\)', slug]);
    expect(complete('go', 'big\\ ')).to.deep.equal(['big\\ \\(sale\\)']);
    expect(complete('sessions', 'show', slug.slice(0, 4))).to.deep.equal([slug]);
    expect(complete('work', 'claim', '')).to.deep.equal(['11', '12']);
    expect(complete('work', 'close', '12')).to.deep.equal(['12']);
    expect(complete('work', 'snooze', '')).to.deep.equal(['11']);
    expect(readFileSync(at('calls'), 'utf8').split('\n')).to.include('completion words reminders');
    expect(complete('work', 'snooze', '11', '')).to.deep.equal([]);
    expect(complete('work', 'close', '--j')).to.deep.equal(['--json']);
    const stop = hookJson('stop', { cwd: at('shop'), session_id: 'one' });
    expect((await steward(['hook', 'stop'], { home: home.path, input: stop })).code).to.equal(0);
    expect(complete('answer', '')).to.deep.equal([asked]);
    expect(complete('inbox', 'done', '')).to.deep.equal(['big\\ \\(sale\\)']);
    expect(complete('inbox', 'snooze', '')).to.have.members([asked, 'big\\ \\(sale\\)']);
    expect(existsSync(at('pwned'))).to.equal(false);
  });

  it('zsh', async function () {
    requirePrograms(this, { zsh: 'zsh' });
    const script = await scriptOf('zsh');
    const driver = join(home.path, 'driver.zsh');
    // A shell in a pseudo-terminal, with Tab and Enter pressed in it: a function that stands for steward
    // says what was completed. Each read waits for what has to come.
    writeFileSync(
      driver,
      `zmodload zsh/zpty
zpty z 'zsh -f -i'
zpty -w z "autoload -U compinit; compinit -u -D; source $1; steward() { print -r -- \\"ran:\\$*:\\" }; print loaded-\\$((1 + 1))"
zpty -r z seen '*loaded-2*'
zpty -w z $'steward sense exp\\t--j\\t'
zpty -r z seen '*ran:sense export --json:*' && print completed
zpty -w z $'steward completion zs\\t'
zpty -r z seen '*ran:completion zsh:*' && print completed
zpty -d z
`,
    );
    expect(shell('zsh', ['-f', driver, script])).to.equal('completed\ncompleted\n');
  });

  it('zsh, with names of sessions and issues', async function () {
    requirePrograms(this, { zsh: 'zsh' });
    const script = await scriptOf('zsh');
    const { slug, env } = await worldWithNames();
    const driver = at('driver.zsh');
    // What was completed is what the program was called with when Enter was pressed.
    writeFileSync(
      driver,
      `zmodload zsh/zpty
zpty z 'zsh -f -i'
zpty -w z "autoload -U compinit; compinit -u -D; source $1; ran() { print -r -- \\"ran:\\$*:\\" }; print loaded-\\$((1 + 1))"
zpty -r z seen '*loaded-2*'
zpty -w z $'compdef _steward ran; alias steward=ran; print aliased-$((1 + 1))'
zpty -r z seen '*aliased-2*'
for line in 'go b' 'sessions show ${slug.slice(0, 6)}' 'work close 12' 'work snooze '; do
  zpty -w z "steward $line"$'\\t'
  zpty -r z seen '*ran:*:*' && print -r -- "\${\${seen#*ran:}%%:*}"
done
zpty -d z
`,
    );
    expect(shell('zsh', ['-f', driver, script], env).split('\n')).to.deep.equal([
      'go big (sale)',
      `sessions show ${slug}`,
      'work close 12',
      'work snooze 11',
      '',
    ]);
    expect(existsSync(at('pwned'))).to.equal(false);
  });

  it('fish', async function () {
    requirePrograms(this, { fish: 'fish' });
    const script = await scriptOf('fish');
    const complete = (line: string): string[] =>
      shell('fish', ['--no-config', '-c', `source ${script}; complete -C '${line}'`])
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => text.split('\t')[0] ?? '');
    expect(complete('steward se')).to.deep.equal(['sense', 'sessions']);
    expect(complete('steward sense exp')).to.deep.equal(['export']);
    expect(complete('steward sense export --j')).to.deep.equal(['--json']);
    expect(complete('steward --json sense exp')).to.deep.equal(['export']);
    expect(complete('steward completion ')).to.have.members(['bash', 'zsh', 'fish']);
  });

  it('fish, with names of sessions and issues', async function () {
    requirePrograms(this, { fish: 'fish' });
    const script = await scriptOf('fish');
    const { slug, env } = await worldWithNames();
    const complete = (line: string): string[] =>
      shell('fish', ['--no-config', '-c', `source ${script}; complete -C '${line}'`], env)
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => text.split('\t')[0] ?? '');
    expect(complete('steward go ')).to.have.members(['big (sale)', slug]);
    expect(complete('steward work claim ')).to.have.members(['11', '12']);
    expect(complete('steward work snooze ')).to.deep.equal(['11']);
    expect(complete('steward work snooze 11 ')).to.deep.equal([]);
    expect(existsSync(at('pwned'))).to.equal(false);
  });
});
