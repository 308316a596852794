import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Shell } from '../../src/lib/shell/completion';
import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { startDaemon } from '../helpers/daemon';
import { until } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { script } from '../helpers/speech';

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];
const START: Readonly<Record<Shell, string>> = {
  bash: 'bash --noprofile -i',
  zsh: 'zsh -d -i',
  fish: 'fish -i',
};
const FILES: Readonly<Record<Shell, string>> = {
  bash: '.bashrc',
  zsh: '.zshrc',
  fish: '.config/fish/config.fish',
};

/** What the lines that only set something begin with: on a machine that is busy they may take long. */
const SETTING = 'echo export set';

describe('the shell snippet, in real shells on a terminal', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => {
    home = emptyHome();
    mkdirSync(join(home.path, 'bin'));
    mkdirSync(join(home.path, '.config', 'fish'), { recursive: true });
    // Without it fish fills it in the background, at its first start.
    mkdirSync(join(home.path, '.local', 'share', 'fish', 'generated_completions'), { recursive: true });
    // Notes what it is called with.
    script(join(home.path, 'bin', 'steward'), `printf '%s\\n' "$*" >> "$HOME/said"`);
  });
  afterEach(() => home.remove());

  /** The snippet, with the noting steward in the place of the real one. */
  async function snippet(shell: Shell): Promise<string> {
    const { stdout, code } = await steward(['shell-hook', shell], { home: home.path });
    expect(code).to.equal(0);
    const real = `'${process.execPath}' '${BIN}'`;
    expect(stdout).to.include(real);
    return stdout.replace(real, `'${join(home.path, 'bin', 'steward')}'`);
  }

  interface Typed {
    screen: string;
    said: string[];
    /** For each line how long it took from its typing to its end, ms: more than what the shell measured. */
    tookMs: number[];
  }

  /**
   * Types lines into a shell on a pseudo-terminal, each once the one before has ended: it says so itself. What is
   * announced comes in the background, so it is waited for: `announced` lines. What the driver types itself is
   * left out by its name: on a machine that is busy it may take as long as a line of the test.
   */
  async function type(
    shell: Shell,
    lines: readonly string[],
    announced: number,
    more: { before?: string; after?: string; env?: Record<string, string>; when?: () => boolean } = {},
  ): Promise<Typed> {
    const rc = [more.before ?? '', await snippet(shell), more.after ?? ''].join('\n');
    writeFileSync(join(home.path, FILES[shell]), rc);
    rmSync(join(home.path, 'said'), { force: true });
    const child = spawn('script', ['-qec', START[shell], '/dev/null'], {
      env: cleanEnv(home.path, {
        SHELL: '/bin/sh',
        TERM: 'dumb',
        STEWARD_LONG_COMMAND_SEC: '1',
        STEWARD_LONG_COMMAND_IGNORE: 'echo',
        fish_greeting: '',
        ...more.env,
      }),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
    const closed = once(child, 'close');
    const tookMs: number[] = [];
    try {
      for (const [index, line] of ['', ...lines].entries()) {
        if (more.when !== undefined) await until('it is time to type', more.when);
        const typedAt = performance.now();
        child.stdin.write(`${line}\r`);
        // The typed text itself has no result in it.
        child.stdin.write(
          `echo ended-$(expr ${index} + 1000)\r`.replace('$(', shell === 'fish' ? '(' : '$('),
        );
        await until(
          `"${line}" ends in ${shell}: ${screen.slice(-600)}`,
          () => screen.includes(`ended-${index + 1000}`),
          60_000,
        );
        if (index > 0) tookMs.push(performance.now() - typedAt);
      }
      const said = (): string[] => {
        const path = join(home.path, 'said');
        return existsSync(path)
          ? readFileSync(path, 'utf8')
              .split('\n')
              .filter((line) => line !== '')
          : [];
      };
      await until(
        `${announced} lines are announced in ${shell}, not ${JSON.stringify(said())}`,
        () => said().length >= announced,
        30_000,
      );
      child.stdin.write('exit\r');
      await closed;
      return {
        screen,
        tookMs,
        said: said().map((line) => line.replace(/(after|duration) \d+ ?(s|min)/g, '$1 N $2')),
      };
    } finally {
      child.kill('SIGKILL');
    }
  }

  const done = (name: string): string =>
    `notify send ${name} finished after N s --event taskComplete --duration N s`;
  const ended = (name: string, code: number): string =>
    `notify send ${name} failed (${code}) after N s --event error --duration N s`;

  for (const shell of SHELLS) {
    describe(shell, () => {
      beforeEach(function () {
        requirePrograms(this, { script: 'bsdutils', [shell]: shell });
      });

      it('names the command that failed, and skips a line with an interactive program', async () => {
        const lines = [
          'sleep 1.2; false',
          'sleep 1.2; true',
          'sleep 1.2; copilot',
          'sleep 1.2; cat /no-such-file',
        ];
        // bash knows which of two commands ran last.
        const either = shell === 'bash' ? 'false' : 'A command';
        const { said } = await type(shell, [...lines, 'sleep 1.2 && false'], 4, {
          env: { STEWARD_LONG_COMMAND_IGNORE: 'echo expr' },
        });
        const own = said.filter((line) => !/ (?:export|set) /.test(line));
        expect(own).to.deep.equal([ended('false', 1), done('sleep'), ended('cat', 1), ended(either, 1)]);
      });

      it('announces long commands by name only, and a failure as an error with its exit code', async () => {
        const lines = [
          'true quick',
          'sleep 1.2',
          "sh -c 'sleep 1.2; exit 3' SECRET-ARGUMENT",
          'TOKEN=SECRET-VALUE /bin/sleep 1.2',
          'for i in 1 2; do sleep 0.8; done'.replace(/^.*$/, (line) =>
            shell === 'fish' ? 'for i in 1 2; sleep 0.8; end' : line,
          ),
        ];
        let typed: Typed;
        // The quick one takes a second where the machine stands still so long: then it says nothing.
        do typed = await type(shell, lines, 4);
        while (typed.tookMs[0]! >= 1000);
        const { said } = typed;
        expect(said).to.deep.equal([done('sleep'), ended('sh', 3), done('sleep'), done('A command')]);
        expect(said.join()).not.to.include('SECRET');
      });

      it('ignores short commands that cross a second boundary', async () => {
        const endOfSecond = (): boolean => Date.now() % 1000 > 850;
        let typed: Typed;
        // A machine that is busy may really take a second for it: then it says nothing.
        do typed = await type(shell, ["sh -c 'sleep 0.2'", 'sleep 1.2'], 1, { when: endOfSecond });
        while (typed.tookMs[0]! >= 1000);
        expect(typed.said).to.deep.equal([done('sleep')]);
      });

      it('skips interactive and ignored programs, and those ended by Ctrl-C', async () => {
        for (const name of ['vim', 'mytool', 'python3']) script(join(home.path, 'bin', name), 'sleep 1.2');
        script(join(home.path, 'bin', 'sudo'), 'sleep 1.2');
        const set =
          shell === 'fish'
            ? `set -gx STEWARD_LONG_COMMAND_IGNORE "${SETTING} mytool"`
            : `export STEWARD_LONG_COMMAND_IGNORE="${SETTING} mytool"`;
        const path = shell === 'fish' ? 'set -gx PATH ~/bin $PATH' : 'export PATH=~/bin:$PATH';
        const { said } = await type(
          shell,
          [
            path,
            'vim notes.txt',
            'sudo vim /etc/hosts',
            'sudo -u bob vim x',
            'python3',
            set,
            'mytool',
            "sh -c 'sleep 1.2; exit 130'",
            'sleep 1.3',
          ],
          1,
          { env: { STEWARD_LONG_COMMAND_IGNORE: SETTING } },
        );
        expect(said).to.deep.equal([done('sleep')]);
      });

      it('preserves the prompt and the exit code it shows', async () => {
        const before = {
          bash: `PROMPT_COMMAND='printf "<theirs %s>" $?'; PS0='<ps0>'; trap 'true their-trap' EXIT`,
          zsh: `autoload -Uz add-zsh-hook; theirs() { print -n "<theirs $?>" }; add-zsh-hook precmd theirs`,
          fish: `function theirs --on-event fish_postexec; echo -n "<theirs $status>"; end`,
        }[shell];
        const { said, screen } = await type(shell, ["sh -c 'sleep 1.2; exit 7'"], 1, { before });
        expect(said).to.deep.equal([ended('sh', 7)]);
        expect(screen).to.include('<theirs 7>');
        if (shell === 'bash') expect(screen).to.include('<ps0>');
      });

      it('prints nothing, can be loaded twice, and uses the configured threshold', async () => {
        const { screen, said } = await type(shell, ['sleep 1.2'], 1, { after: await snippet(shell) });
        expect(said).to.deep.equal([done('sleep')]);
        expect(screen).not.to.match(/\[1\]|Done|not found|rror/);
        const quiet = await type(shell, ['sleep 1.2'], 0, { env: { STEWARD_LONG_COMMAND_SEC: 'nonsense' } });
        expect(quiet.said).to.deep.equal([]);
        await steward(['config', 'set', 'notifications.thresholds.longTaskMinutes', '7'], {
          home: home.path,
        });
        expect(await snippet(shell))
          .to.include('limit')
          .and.include('420');
      });

      it('does nothing in a script, and is valid shell code', async () => {
        const path = join(home.path, 'snippet');
        writeFileSync(path, `${await snippet(shell)}\n`);
        const run = spawnSync(
          shell,
          [...(shell === 'fish' ? ['--no-config'] : []), '-c', `source ${path}; echo fine`],
          {
            env: cleanEnv(home.path),
            encoding: 'utf8',
          },
        );
        expect([run.stdout, run.stderr]).to.deep.equal(['fine\n', '']);
      });
    });
  }

  it('measures time in bash before version 5', async function () {
    requirePrograms(this, { script: 'bsdutils', bash: 'bash' });
    const { said } = await type('bash', ['true', 'sleep 1.2'], 1, { before: 'unset EPOCHREALTIME' });
    expect(said.at(-1)).to.equal(done('sleep'));
  });

  it('starts no process for a short command', async function () {
    requirePrograms(this, { script: 'bsdutils', bash: 'bash', strace: 'strace' });
    writeFileSync(join(home.path, '.bashrc'), await snippet('bash'));
    const log = join(home.path, 'trace');
    const child = spawn(
      'script',
      ['-qec', `strace -f -e trace=clone,clone3,fork,vfork -o ${log} bash --noprofile -i`, '/dev/null'],
      {
        env: cleanEnv(home.path, { SHELL: '/bin/sh', TERM: 'dumb' }),
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
    const closed = once(child, 'close');
    try {
      child.stdin.write('echo ready-$((1 + 1))\r');
      await until('the shell is ready', () => screen.includes('ready-2'), 60_000);
      const before = readFileSync(log, 'utf8').split('\n').length;
      for (let n = 0; n < 5; n += 1) child.stdin.write(`echo short-$((${n} + 10))\r`);
      await until('all have run', () => screen.includes('short-14'), 60_000);
      expect(readFileSync(log, 'utf8').split('\n').length).to.equal(before);
    } finally {
      child.stdin.write('exit\r');
      await closed;
    }
  });

  it('reaches the notification log through the real steward', async function () {
    requirePrograms(this, { script: 'bsdutils', bash: 'bash' });
    await steward(['config', 'set', 'notify.voice.engine', 'none'], { home: home.path });
    const { stdout } = await steward(['shell-hook', 'bash'], { home: home.path });
    writeFileSync(join(home.path, '.bashrc'), stdout);
    const daemon = await startDaemon({ home: home.path });
    const child = spawn('script', ['-qec', 'bash --noprofile -i', '/dev/null'], {
      env: cleanEnv(home.path, { SHELL: '/bin/sh', TERM: 'dumb', STEWARD_LONG_COMMAND_SEC: '1' }),
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const closed = once(child, 'close');
    child.stdin.write("sleep 1.2\rsh -c 'sleep 1.2; exit 2'\r");
    const heard = async (): Promise<boolean> => {
      const { stdout: text } = await steward(['notify', 'history', '--json'], { home: home.path });
      const entries = JSON.parse(text) as { event: string; text: string }[];
      const said = entries.map((entry) => `${entry.event}: ${entry.text.replace(/\d+ s\b/, 'N s')}`);
      return ['taskComplete: sleep finished after N s', 'error: sh failed (2) after N s'].every((line) =>
        said.includes(line),
      );
    };
    try {
      await until('both notifications are in the log', heard, 60_000);
    } finally {
      child.stdin.write('exit\r');
      await closed;
      await daemon.stop();
    }
  });
});
