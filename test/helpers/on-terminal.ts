import { spawn } from 'node:child_process';

import { BIN, cleanEnv } from './cli';

/** What is waited for on the screen, and what is typed then: `\r` is Enter, `\x03` Ctrl-C, `\x04` the end of input. */
export type Turn = readonly [seen: string, typed: string];

export interface Conversation {
  /** Everything that the terminal showed. */
  text: string;
  /** Exit code; negative for a signal. */
  code: number;
  /** The turns that never came. */
  missed: string[];
}

/** A terminal of a given width that types each answer once its question is shown, after the answer before it. */
const DRIVER = `
import fcntl, json, os, pty, select, signal, struct, sys, termios, time
plan = json.loads(sys.stdin.read())
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, plan['columns'], 0, 0))
    os.chdir(plan['cwd'])
    os.execve(plan['argv'][0], plan['argv'], plan['env'])
seen, looked, turns = b'', 0, list(plan['turns'])
deadline = time.monotonic() + plan['seconds']
while time.monotonic() < deadline:
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data
    while turns:
        at = seen.find(turns[0][0].encode(), looked)
        if at < 0:
            break
        looked = at + len(turns[0][0].encode())
        os.write(fd, turns.pop(0)[1].encode())
else:
    os.kill(pid, signal.SIGKILL)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({'text': seen.decode('utf8', 'replace'), 'code': code, 'missed': [turn[0] for turn in turns]}))
`;

/** Runs the built binary on a terminal of its own (python3's pty) and answers its questions. Killed after 90 s. */
export function converse(
  args: readonly string[],
  turns: readonly Turn[],
  options: { home: string; columns?: number; env?: Record<string, string | undefined> },
): Promise<Conversation> {
  const { home, columns = 100, env } = options;
  const plan = {
    argv: [process.execPath, BIN, ...args],
    cwd: home,
    env: cleanEnv(home, { TERM: 'xterm-256color', ...env }),
    columns,
    turns,
    seconds: 90,
  };
  return drive<Conversation>(DRIVER, plan);
}

/** What a command wrote on a terminal that it did not read from. */
export interface Screen {
  args: readonly string[];
  text: string;
  /** Exit code; negative for a signal. */
  code: number;
}

/** Runs one command after the other, each on its own terminal, whose input ends when the command waits. Each is killed after 30 s. */
const SCREENS = `
import fcntl, json, os, pty, select, signal, struct, sys, termios, time
plan = json.loads(sys.stdin.read())
screens = []
for args in plan['commands']:
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, plan['columns'], 0, 0))
        os.chdir(plan['cwd'])
        os.execve(plan['argv'][0], plan['argv'] + args, plan['env'])
    seen, deadline = b'', time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([fd], [], [], 0.3)[0]:
            os.write(fd, b'\\x04')
            continue
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    else:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    screens.append({'args': args, 'text': seen.decode('utf8', 'replace'), 'code': code})
print(json.dumps(screens))
`;

export function screensOf(
  commands: readonly (readonly string[])[],
  options: { home: string; columns: number; env: NodeJS.ProcessEnv },
): Promise<Screen[]> {
  const { home, columns, env } = options;
  const plan = { commands, argv: [process.execPath, BIN], cwd: home, columns };
  return drive<Screen[]>(SCREENS, { ...plan, env: { ...env, TERM: 'xterm-256color' } });
}

function drive<T>(program: string, plan: object): Promise<T> {
  return new Promise((done, fail) => {
    const child = spawn('python3', ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', fail);
    child.on('close', () => done(JSON.parse(output) as T));
    child.stdin.end(JSON.stringify(plan));
  });
}
