import { createInterface } from 'node:readline/promises';

/** Can a person be asked: are both ends a terminal? */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks a yes-or-no question on stderr; an empty answer is yes, or no where `preset` says so, the end of input no.
 * Ctrl-C interrupts the run.
 */
export async function confirm(question: string, preset: 'yes' | 'no' = 'yes'): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => {
    process.stderr.write('\n');
    process.kill(process.pid, 'SIGINT');
  });
  try {
    const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    const answer = await Promise.race([
      lines.question(`${question} ${preset === 'yes' ? '[Y/n]' : '[y/N]'} `),
      closed,
    ]);
    if (answer === undefined) process.stderr.write('\n');
    if (answer === undefined) return false;
    return answer.trim() === '' ? preset === 'yes' : /^(y|yes)$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
