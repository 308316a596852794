import { spawn, type ChildProcess } from 'node:child_process';

import { until } from './desktop-kit';

/** A terminal whose screen is recorded, as an emulator or an ssh login would show it. */
export interface Screen {
  child: ChildProcess;
  /** What has come to the screen. */
  text: () => string;
  type: (text: string) => void;
}

/** Opens a terminal with a program in it. The program's first line is awaited, so that the terminal is there. */
export async function openScreen(line: string, env: NodeJS.ProcessEnv): Promise<Screen> {
  const child = spawn('script', ['-qec', `echo ready; ${line}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
    // Without a terminal of its own, as a terminal emulator and sshd are.
    detached: true,
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  await until('a terminal', () => text.includes('ready'));
  return { child, text: () => text.replace('ready\r\n', ''), type: (input) => child.stdin.write(input) };
}

export async function closeScreen({ child }: Screen): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((done) => child.once('close', done));
}
