import { spawn, type ChildProcess } from 'node:child_process';

import { until } from './desktop-kit';

/** A terminal whose screen is recorded, as an emulator or an ssh login would show it. */
export interface Screen {
  child: ChildProcess;
  /** What has come to the screen. */
  text: () => string;
  type: (text: string) => void;
}

/**
 * Starts a terminal with a program in it, and waits for nothing. What the program writes first may never be seen: tmux
 * discards what the terminal has not taken yet when it attaches.
 */
export function startScreen(line: string, env: NodeJS.ProcessEnv, within: readonly string[] = []): Screen {
  const [file = '', ...args] = [...within, 'script', '-qec', line, '/dev/null'];
  const child = spawn(file, args, {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
    // Without a terminal of its own, as a terminal emulator and sshd are.
    detached: true,
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  return { child, text: () => text, type: (input) => child.stdin.write(input) };
}

/** Opens a terminal with a program in it. A first line is awaited, so that the terminal is there. */
export async function openScreen(line: string, env: NodeJS.ProcessEnv): Promise<Screen> {
  const screen = startScreen(`echo ready; ${line}`, env);
  await until('a terminal', () => screen.text().includes('ready'));
  return { ...screen, text: () => screen.text().replace('ready\r\n', '') };
}

export async function closeScreen({ child }: Screen): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((done) => child.once('close', done));
}
