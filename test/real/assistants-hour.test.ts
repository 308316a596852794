import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { DONE, KEY, NEXT_DOOR, requireAssistant, startHour, type Hour } from '../helpers/assistant-hour';

describe('an hour with the real assistant in tmux, without a desktop (built)', function () {
  this.timeout(900_000);
  let hour: Hour | undefined;

  afterEach(async () => {
    await hour?.close();
    hour = undefined;
  });

  async function startClaude(
    { open, shows, env, model }: Hour,
    pane: string,
    ...args: string[]
  ): Promise<void> {
    open(pane, ['claude', ...args], {
      ANTHROPIC_BASE_URL: dirname(model.url),
      ANTHROPIC_AUTH_TOKEN: 'x',
      ANTHROPIC_MODEL: 'claude-sonnet-4-5',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      PATH: env.PATH,
    });
    await shows(pane, args.length === 0 ? 'for shortcuts' : 'mode on');
  }

  it('of Claude Code, gives the right list at every step', async function () {
    requireAssistant(this, 'claude');
    hour = await startHour();
    const { home, folder, shows, lists, say, press, goes } = hour;
    mkdirSync(join(home, '.claude'));
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const settings = { hasCompletedOnboarding: true, theme: 'dark', projects: { [folder]: trusted } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(settings));
    await hour.steward('hooks', 'install', '--assistant', 'claude-code');
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
