import { DONE, KEY, NEXT_DOOR, requireAssistant, startHour, type Hour } from '../helpers/assistant-hour';
import { setUpClaude, startClaude } from '../helpers/claude-hour';

describe('an hour with the real assistant in tmux, without a desktop (built)', function () {
  this.timeout(900_000);
  let hour: Hour | undefined;

  afterEach(async () => {
    await hour?.close();
    hour = undefined;
  });

  it('of Claude Code, gives the right list at every step', async function () {
    requireAssistant(this, 'claude');
    hour = await startHour();
    const { shows, lists, say, press, goes } = hour;
    await setUpClaude(hour);
    await hour.attach(NEXT_DOOR);

    await startClaude(hour, 'one');
    await lists('start', DONE);

    for (const key of [KEY.enter, KEY.escape]) {
      await say('one', 'RUN-IT');
      await shows('one', 'Do you want to proceed?');
      await lists('a permission', 'waiting: asks to run Bash');
      await goes('one');
      press('one', key);
      await lists(`a permission, ${key}`, DONE);
    }
    for (const key of [KEY.enter, KEY.escape]) {
      await say('one', 'ASK-ME');
      await shows('one', 'Enter to select');
      await lists('a question', 'waiting: asks you a question');
      press('one', key);
      await lists(`a question, ${key}`, DONE);
    }

    // Esc before the first answer leaves no sign in the transcript.
    await say('one', 'WAIT-LONG');
    await shows('one', 'esc to interrupt');
    await lists('thinking', 'working: thinking');
    press('one', KEY.escape);
    await lists('Esc', DONE);

    // Two sessions in one repository: a request before a finished turn.
    await startClaude(hour, 'two');
    await lists('two sessions', DONE, DONE);
    await say('two', 'RUN-IT');
    await shows('two', 'Do you want to proceed?');
    await lists('a request before a finished turn', 'waiting: asks to run Bash', DONE);
    await goes('two');
    await goes('one', '2');
    press('two', KEY.escape);
    await lists('both wait', DONE, DONE);

    await say('two', 'HIT-LIMIT');
    await shows('two', 'API Error');
    const limited = 'waiting: stopped: rate limit until …';
    await lists('a limit', limited, DONE);

    press('one', KEY.shiftTab);
    await shows('one', 'accept edits on');
    press('one', KEY.shiftTab);
    await shows('one', 'plan mode on');
    await say('one', 'PLAN-IT');
    await shows('one', 'Exit plan mode?');
    await lists('a plan', limited, 'waiting: has a plan for you to approve');
    press('one', KEY.escape);
    await lists('a plan, Escape', limited, DONE);

    // The end: one asks for it, the other is killed.
    await say('one', '/quit');
    await lists('/quit', limited);
    hour.kill('two');
    await lists('kill', 'crashed');
    console.log(`      ${hour.summary()}`);
  });
});
