import { createInterface } from 'node:readline/promises';

import { StewardError, undefinedIf } from '../../errors';
import { foldFor } from './fold';

/** Returns whether stdin and stderr are terminals. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks questions on stderr. All questions share one reader, so that input typed ahead isn't lost. Ctrl-C exits
 * with `canceled`.
 */
export function openPrompt() {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const typed = lines[Symbol.asyncIterator]();
  let isClosed = false;
  lines.on('SIGINT', () => {
    // Starts a new line after the ^C that the terminal has printed.
    process.stderr.write('\n');
    process.kill(process.pid, 'SIGINT');
  });
  /** Returns a trimmed line. Throws `canceled` at the end of input. */
  const line = async (question: string): Promise<string> => {
    const folded = foldFor('stderr', question);
    const lastLine = folded.lastIndexOf('\n') + 1;
    process.stderr.write(folded.slice(0, lastLine));
    lines.setPrompt(folded.slice(lastLine));
    lines.prompt();
    const { value, done } = await typed.next();
    if (done !== true) return value.trim();
    if (!isClosed) process.stderr.write('\n');
    throw new StewardError('canceled', 'No answer.');
  };
  return {
    line,
    /**
     * Repeats the question until the answer is yes, no or empty (which means `preset`). Throws `canceled` at
     * the end of input.
     */
    async yes(question: string, preset: 'yes' | 'no') {
      for (;;) {
        const answer = (await line(`${question} ${preset === 'yes' ? '[Y/n]' : '[y/N]'} `)).toLowerCase();
        if (answer === '') return preset === 'yes';
        if (answer === 'y' || answer === 'yes') return true;
        if (answer === 'n' || answer === 'no') return false;
        process.stderr.write('Answer y or n.\n');
      }
    },
    close: () => {
      isClosed = true;
      lines.close();
    },
  };
}

export type Prompt = ReturnType<typeof openPrompt>;

/** Asks a yes-or-no question on stderr. An empty answer means `preset`, and the end of input means no. */
export async function confirm(question: string, preset: 'yes' | 'no' = 'yes'): Promise<boolean> {
  const questions = openPrompt();
  try {
    const line = questions.line(`${question} ${preset === 'yes' ? '[Y/n]' : '[y/N]'} `);
    const answer = await line.catch(undefinedIf('canceled'));
    return answer === '' ? preset === 'yes' : /^(y|yes)$/i.test(answer ?? '');
  } finally {
    questions.close();
  }
}
