import { createInterface } from 'node:readline/promises';

/** Can a person be asked: are both ends a terminal? */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks a yes-or-no question on stderr; an empty answer is yes, the end of input no. Ctrl-C interrupts the run. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    const answer = await Promise.race([lines.question(`${question} [Y/n] `), closed]);
    if (answer === undefined) process.stderr.write('\n');
    return answer !== undefined && /^(y|yes|)$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
