import { BaseCommand, boolean, limit, of, repo, text, word } from '../lib/cli/base-command';
import { zonedNow } from '../lib/app/context';
import { findNow } from '../lib/cli/find-sessions';
import type { FoundSession } from '../lib/assistant/find';
import { foundText } from '../lib/assistant/find-view';
import { findTerms } from '../lib/assistant/find-words';
import { EXIT_CODES } from '../lib/errors';
import { nameOfRepo } from '../lib/platform/files/git-folder';
import { isInteractive } from '../lib/platform/terminal/ask';
import { localTimes } from '../lib/platform/time/day-words';

/** Delay before the progress message, in ms. */
const SLOW_MS = 1000;

export default class Find extends BaseCommand {
  static override summary = 'Find past sessions by their words';
  static override description =
    "Searches your assistants' transcripts here; stores nothing. On a terminal, Enter resumes a session in tmux. Exits with 5 if none is found.";
  static override strict = false;
  static override args = {
    words: word({ required: true, description: 'Whole words of one message; quote a phrase.' }),
  };
  static override flags = {
    by: text({ description: 'Who wrote the messages.', options: ['you', 'assistant'] }),
    repo,
    of: of('Days'),
    since: text({ hidden: true, exclusive: ['of'] }),
    files: boolean({ description: 'Search the paths of edited files instead.', exclusive: ['by'] }),
    limit: limit('Number of sessions after which to stop.', 20),
  };
  static override examples = [
    'find "retry policy" --by you --since monday',
    'find --files src/payments.ts --repo shop',
  ];
  static override related = ['sessions', 'usage --by session'];

  async run(): Promise<{ rows: FoundSession[]; notes: string[] } | undefined> {
    const { argv, flags } = await this.parse(Find);
    const terms = findTerms(argv as string[]);
    const { zone } = await zonedNow(this.context);
    const period = flags.since === undefined ? flags.of : `since ${flags.since}`;
    const { startMs, endMs } = period === undefined ? ALWAYS : await this.period(period);
    const localTime = localTimes(this.context.clock, zone);
    const { by, limit, files = false } = flags;
    const repo = flags.repo === undefined ? undefined : nameOfRepo(flags.repo);
    const query = { terms, startMs, endMs, limit, files, by, repo };
    if (!this.json && this.terminal.isTTY && isInteractive()) {
      const { watchFind } = await import('../lib/cli/watch-find');
      const command = await watchFind(this.context, this.terminal, { ...query, localTime });
      if (command !== undefined) this.printUnfolded(() => command);
      return undefined;
    }
    const rows: FoundSession[] = [];
    const slow = setTimeout(
      () => this.say('Searching the transcripts… Ctrl-C keeps what was found.'),
      SLOW_MS,
    );
    const notes = await findNow(this.context, query, (found) => {
      rows.push(found);
      this.print(() => foundText(found, terms, { ...this.terminal, localTime }));
    }).finally(() => clearTimeout(slow));
    if (rows.length === 0) {
      process.exitCode = EXIT_CODES.not_found;
      this.print(() => `No session ${repo === undefined ? '' : `of ${repo} `}found. Only whole words match.`);
    }
    for (const note of notes) this.say(note);
    return { rows, notes };
  }
}

const ALWAYS = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER };
