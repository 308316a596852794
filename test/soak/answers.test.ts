import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Inbox, InboxRow } from '../../src/lib/inbox/row';
import { requireAssistant, startHour, type Hour } from '../helpers/assistant-hour';
import { setUpClaude, startClaude } from '../helpers/claude-hour';

const PANE = 'claude';

describe('answers to Claude Code from elsewhere', function () {
  this.timeout(600_000);
  let hour: Hour;
  before(async function () {
    requireAssistant(this, 'claude');
    hour = await startHour();
    await setUpClaude(hour);
    await hour.steward('sense', 'init');
    await hour.steward('answers', 'setup', '--yes');
    await hour.steward('config', 'set', 'notifications.answers.tools', 'Bash');
    await startClaude(hour, PANE);
    await hour.attach(PANE);
    const isAway = async (): Promise<boolean> => {
      const { presence } = JSON.parse(await hour.steward('answers', 'setup', '--yes', '--json')) as {
        presence: string;
      };
      return presence === 'away';
    };
    while (!(await isAway())) await new Promise(setImmediate);
  });
  after(() => hour?.close());

  /** Returns the row of a request that is held: nobody is at a terminal. */
  async function held(kind: string): Promise<InboxRow> {
    for (;;) {
      const { rows } = JSON.parse(await hour.steward('inbox', '--json')) as Inbox;
      const row = rows.find(({ ask }) => ask?.kind === kind);
      if (row !== undefined) return row;
    }
  }

  it('takes the answer to a question', async () => {
    await hour.say(PANE, 'ASK-ME');
    const row = await held('question');
    expect(row.ask?.questions).to.deep.equal([{ text: 'Which one?', options: ['First', 'Second'] }]);
    await hour.steward('answer', row.name, '2');
    await hour.shows(PANE, /Second[^]*Done\./);
  });

  it('takes a permission', async () => {
    await hour.say(PANE, 'RUN-IT');
    const row = await held('permission');
    expect(row.ask?.input).to.include('touch made-by-model');
    expect(existsSync(join(hour.folder, 'made-by-model'))).to.equal(false);
    await hour.steward('answer', row.name, '--allow');
    await hour.becomes(PANE, 'the file', () => existsSync(join(hour.folder, 'made-by-model')));
    const log = readFileSync(join(hour.home, '.steward', 'observability', 'answers.jsonl'), 'utf8');
    expect(log).to.match(/"tool":"Bash","decision":"allow","from":"the terminal"/);
    expect(log).not.to.include('touch');
  });
});
