import { join } from 'node:path';
import { expect } from 'chai';

import { overviewText, type Overview } from '../../../src/lib/setup/status';
import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { expectGolden } from '../../helpers/golden';

const GOLDEN = join(__dirname, 'golden');
const head = { userArea: '/home/ann/.steward', version: '0.1.0' };

const SCREENS: Readonly<Record<string, Overview>> = {
  ok: {
    ...head,
    setUp: true,
    parts: [
      { id: 'sense', state: 'ok', found: '214 events today · last capture 14:32', fix: null },
      { id: 'work', state: 'ok', found: 'ann/work · 12 open · read 14:31', fix: null },
      { id: 'notify', state: 'ok', found: 'voice espeak-ng · push on · chat off', fix: null },
      { id: 'agents', state: 'ok', found: '2 named agents · 31 knowledge entries', fix: null },
      { id: 'daemon', state: 'ok', found: 'http://127.0.0.1:31337 · up 3 h 02 m', fix: null },
      { id: 'hooks', state: 'ok', found: 'registered with Claude Code', fix: null },
      { id: 'jobs', state: 'ok', found: 'sense, work, daemon in systemd', fix: null },
    ],
  },
  'first-day': {
    ...head,
    setUp: false,
    parts: [
      { id: 'sense', state: 'off', found: 'not set up', fix: 'steward init' },
      { id: 'work', state: 'off', found: 'no repository', fix: 'steward work setup OWNER/REPO' },
      {
        id: 'goals',
        state: 'off',
        found: 'no active goals',
        fix: 'steward goals add TEXT',
      },
      { id: 'jobs', state: 'off', found: 'none in cron', fix: 'steward install' },
    ],
  },
  warning: {
    ...head,
    setUp: true,
    parts: [
      {
        id: 'sense',
        state: 'warning',
        found: '3 events today · last capture Thu 19 Nov 09:12 · no automatic capture',
        fix: 'steward install jobs',
      },
      {
        id: 'notify',
        state: 'warning',
        found: 'voice not installed · push off · chat off. Install espeak-ng ("sudo apt install espeak-ng").',
        fix: 'steward notify test',
      },
      {
        id: 'sessions',
        state: 'warning',
        found: '2 active · 1 waiting for you',
        fix: 'steward sessions',
      },
      {
        id: 'jobs',
        state: 'warning',
        found: 'sense, daemon in cron · sense: The launcher is missing, so each run fails.',
        fix: 'steward install jobs --status',
      },
    ],
  },
  error: {
    ...head,
    setUp: true,
    parts: [
      {
        id: 'configuration',
        state: 'failed',
        found:
          '/home/ann/.steward/config.yaml does not parse.\nline 3: a key without a value\u001b[31m Fix the file, or move it away.',
        fix: 'steward config path',
      },
      {
        id: 'sense',
        state: 'failed',
        found:
          '/home/ann/.steward/sense/state.json was written by a newer steward. Use that version here too.',
        fix: null,
      },
    ],
  },
};

describe('status screen', () => {
  for (const [name, screen] of Object.entries(SCREENS)) {
    for (const columns of [40, 80]) {
      it(`shows ${name} at ${columns} columns, with and without colour`, () => {
        const plain = overviewText(screen, { columns, isTTY: true, color: false, unicode: true });
        expectGolden(join(GOLDEN, `${name}-${columns}.txt`), `${plain}\n`);
        for (const line of plain.split('\n')) expect(displayWidth(line), line).to.be.at.most(columns);
        const coloured = overviewText(screen, { columns, isTTY: true, color: true, unicode: true });
        expectGolden(join(GOLDEN, `${name}-${columns}-colour.txt`), `${visible(coloured)}\n`);
        // Colour only repeats what the words say.
        expect(coloured.replace(/\u001b\[[0-9;]*m/g, '').replace(/ +$/gm, '')).to.equal(plain);
      });
    }
  }
});

/** Makes colour codes readable in a golden file. */
function visible(text: string): string {
  return text.replace(/\u001b\[([0-9;]*)m/g, '<$1>');
}
