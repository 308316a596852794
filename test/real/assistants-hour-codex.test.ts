import { DONE, KEY, NEXT_DOOR, requireAssistant, startHour, type Hour } from '../helpers/assistant-hour';
import { endCodexDaemon, INPUT, setUpCodex, startCodex } from '../helpers/codex-hour';
import { until } from '../helpers/desktop-kit';

describe('an hour with the real Codex in tmux, without a desktop (built)', function () {
  this.timeout(900_000);
  let hour: Hour | undefined;

  afterEach(async () => {
    if (hour !== undefined) endCodexDaemon(hour);
    await hour?.close();
    hour = undefined;
  });

  it('gives the right list at every step', async function () {
    requireAssistant(this, 'codex');
    hour = await startHour();
    const { shows, lists, say, press, goes } = hour;
    await setUpCodex(hour);
    await hour.attach(NEXT_DOOR);

    await startCodex(hour, 'one', true);
    await lists('start', DONE);
    await goes('one', '1');

    for (const key of [KEY.enter, KEY.escape]) {
      await say('one', 'RUN-IT', INPUT);
      await shows('one', 'Press enter to confirm or esc to cancel');
      await lists('a permission', 'waiting: asks to run Bash');
      await goes('one');
      press('one', key);
      await lists(`a permission, ${key}`, DONE);
    }

    await say('one', 'WAIT-LONG', INPUT);
    await shows('one', 'esc to interrupt');
    await lists('thinking', 'working: thinking');
    press('one', KEY.escape);
    await lists('Esc', DONE);

    // Two sessions in one repository: a request before a finished turn.
    await startCodex(hour, 'two');
    await lists('two sessions', DONE, DONE);
    await say('two', 'RUN-IT', INPUT);
    await shows('two', 'Press enter to confirm or esc to cancel');
    await lists('a request before a finished turn', 'waiting: asks to run Bash', DONE);
    await goes('two');
    await goes('one', '2');
    press('two', KEY.escape);
    await lists('both wait', DONE, DONE);

    // A question. Codex asks them in plan mode only.
    await hour.pressUntil('one', KEY.shiftTab, 'Plan mode');
    for (const key of [KEY.enter, KEY.escape]) {
      await say('one', 'ASK-ME', INPUT);
      await shows('one', 'Which one?');
      await lists('a question', 'waiting: asks you a question', DONE);
      await goes('one');
      press('one', key);
      await lists(`a question, ${key}`, DONE, DONE);
    }

    await say('two', 'HIT-LIMIT', INPUT);
    await shows('two', '429');
    const limited = 'waiting: stopped: rate limit';
    await lists('a limit', limited, DONE);

    // The end: one asks for it, the other is killed.
    await say('one', '/quit', INPUT);
    await lists('/quit', limited);
    hour.kill('two');
    await lists('kill');
    await until('the panes close', () => hour?.tmux('list-sessions', '-F', '#S').trim() === NEXT_DOOR);
    console.log(`      ${hour.summary()}`);
  });
});
