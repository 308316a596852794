import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import type { TimeReport } from '../../src/lib/time/ledger/rows';
import { startAlertHour, type AlertHour } from '../helpers/alert-hour';
import { DONE, KEY, requireAssistant } from '../helpers/assistant-hour';
import { setUpClaude, startClaude } from '../helpers/claude-hour';
import { INPUT, setUpCodex, startCodex } from '../helpers/codex-hour';
import { movableClock, requireFaketime } from '../helpers/faketime';
import { NO_DESKTOP, requireNamespace, startNamespace, type Namespace } from '../helpers/namespace';
import { removeFolder } from '../helpers/scratch';

const START = Date.parse('2026-11-20T09:00:00.000Z');

describe('an hour with real assistants and a daemon, in tmux without a desktop (built)', function () {
  this.timeout(600_000);
  let folder: string | undefined;
  let namespace: Namespace | undefined;
  let hour: AlertHour | undefined;

  afterEach(async () => {
    await hour?.close();
    await namespace?.stop();
    if (folder !== undefined) removeFolder(folder);
    hour = namespace = folder = undefined;
  });

  async function startWorld(context: Mocha.Context, ms: number) {
    requireFaketime(context);
    requireNamespace(context);
    folder = mkdtempSync(join(tmpdir(), 'steward-hour-'));
    namespace = await startNamespace(folder, NO_DESKTOP, process.env);
    return { clock: movableClock(join(folder, 'clock'), ms), within: namespace.within };
  }

  it('of Claude Code, half in mode auto, gives the alerts and your minutes of the script', async function () {
    requireAssistant(this, 'claude');
    const { clock, within } = await startWorld(this, START);
    hour = await startAlertHour(clock, { env: clock.env, within });
    const { say, press, shows, lists, model } = hour;
    const fromMs = performance.now();
    await setUpClaude(hour);
    await startClaude(hour, 'one', 'auto');
    await lists('start', DONE);
    const one = `site·main (${await nameOf(hour)})`;
    await startClaude(hour, 'two');
    await lists('two sessions', DONE, DONE);
    const two = `site·main (${await nameOf(hour, one)})`;
    await hour.startDaemon();
    await hour.types();

    // What the mode approves, by a rule or by asking the model, is no wait.
    for (const word of ['RUN-IT', 'CHECK-IT', 'CHECK-IT', 'RUN-IT', 'CHECK-IT']) {
      await say('one', word);
      await shows('one', /Done\.\s+✻/);
      await lists(`${word}, approved`, DONE, DONE);
    }
    await hour.passes(5, 'types');

    // A person in the next pane gets a banner and no push.
    await hour.types();
    await say('one', 'ASK-ME');
    await lists('a question', 'waiting: asks you a question', DONE);
    await hour.alerted(`${one} asks you a question.`, 'terminal');
    press('one', KEY.enter);
    await lists('a question, Enter', DONE, DONE);
    await hour.passes(5, 'types');
    await hour.types();
    await say('two', 'RUN-IT');
    await lists('a permission', 'waiting: asks to run Bash', DONE);
    await hour.alerted(`${two} asks to run Bash.`, 'terminal');
    press('two', KEY.escape);
    await lists('a permission, Escape', DONE, DONE);
    await hour.passes(5, 'types');

    /** The model answers when the person has left. */
    async function asksLater(pane: string, word: string, ...expected: string[]): Promise<void> {
      const release = model.hold();
      await say(pane, word);
      await shows(pane, 'esc to interrupt');
      await hour?.passes(2, 'is away');
      release();
      await lists(`${word} while away`, ...expected);
    }

    // Ten minutes for a question.
    await asksLater('one', 'ASK-ME', 'waiting: asks you a question', DONE);
    await hour.alerted(`${one} asks you a question.`, 'push', 'terminal');
    await hour.passes(10, 'is away');
    await lists('ten minutes later', 'waiting: asks you a question', DONE);
    press('one', KEY.enter);
    await lists('the answer', DONE, DONE);
    await hour.alerted(`${one} finished after 12 min.`, 'push');
    await hour.passes(13, 'types');

    // A plan, in plan mode out of mode auto.
    for (const mode of ['manual mode|for shortcuts', 'accept edits on', 'plan mode on']) {
      press('one', KEY.shiftTab);
      await shows('one', new RegExp(mode));
    }
    for (const key of [KEY.escape, KEY.enter]) {
      await asksLater('one', 'PLAN-IT', 'waiting: has a plan for you to approve', DONE);
      await hour.alerted(`${one} has a plan for you to approve.`, 'push', 'terminal');
      press('one', key);
      await lists(`a plan, ${key}`, DONE, DONE);
      await hour.passes(3, 'types');
    }

    await asksLater('two', 'RUN-IT', 'waiting: asks to run Bash', DONE);
    await hour.alerted(`${two} asks to run Bash.`, 'push', 'terminal');
    press('two', KEY.enter);
    await lists('a permission, Enter', DONE, DONE);
    await hour.passes(3, 'types');

    await asksLater('two', 'HIT-LIMIT', 'waiting: stopped: rate limit until …', DONE);
    await hour.alerted(`${two} stopped: rate limit until 23:59.`, 'push', 'terminal');
    await hour.passes(3, 'types');

    hour.checkAlerts();
    await hour.types();
    await hour.passes(0.5, 'is away');
    // The clock also runs while the script does something.
    const realMinutes = (performance.now() - fromMs) / 60_000;
    const { rows } = JSON.parse(await hour.steward('time', '--json')) as TimeReport;
    expect(rows.map(({ key }) => key)).to.deep.equal(['site']);
    expect(rows[0]?.minutes).to.be.closeTo(hour.minutes() + 0.5, 0.5);
    expect(rows[0]?.waiting).to.be.within(10, 10 + realMinutes);
    console.log(`      ${hour.summary()}; ${hour.alerts.length} alerts`);
    console.log(`      ${rows[0]?.minutes} of your minutes (script: ${hour.minutes() + 0.5})`);
  });

  it('of Codex, with a reviewer of its own, gives the alerts of the script', async function () {
    requireAssistant(this, 'codex');
    // Codex bears no other clock, so only tmux has one: what is typed counts as typed then.
    const { clock, within } = await startWorld(this, Date.now());
    hour = await startAlertHour(clock, { tmuxEnv: clock.env, within });
    const { say, press, shows, lists } = hour;
    const typed = (minutesAgo: number): Promise<void> => {
      clock.set(Date.now() - minutesAgo * 60_000);
      return hour?.types() ?? Promise.resolve();
    };
    await setUpCodex(hour, 'auto_review');
    await startCodex(hour, 'one', true);
    await hour.startDaemon();

    // Nobody waits for the reviewer.
    await typed(2);
    for (const step of ['first', 'second', 'third']) {
      await say('one', 'RUN-IT', INPUT);
      await shows('one', /RUN-IT\s+• Ran touch made-by-model[^›]*• Done\.[^›]*› Ask/);
      await lists(`${step} review`, DONE);
      press('one', 'C-l');
    }

    // You switch to your own approval.
    await say('one', '/permissions', INPUT);
    await shows('one', 'Update Model Permissions');
    await hour.pressUntil('one', '1', 'Ask Codex to do anything');
    for (const [minutesAgo, ...channels] of [
      [2, 'push', 'terminal'],
      [0, 'terminal'],
    ] as const) {
      await typed(minutesAgo);
      await say('one', 'RUN-IT', INPUT);
      await lists(`a permission, ${minutesAgo} min after the last input`, 'waiting: asks to run Bash');
      await hour.alerted('site·main asks to run Bash.', ...channels);
      press('one', KEY.escape);
      await lists('Escape', DONE);
    }

    // A question, which Codex asks in plan mode only.
    await hour.pressUntil('one', KEY.shiftTab, 'Plan mode');
    await typed(2);
    await say('one', 'ASK-ME', INPUT);
    await lists('a question', 'waiting: asks you a question');
    await hour.alerted('site·main asks you a question.', 'push', 'terminal');
    press('one', KEY.enter);
    await lists('the answer', DONE);
    hour.checkAlerts();
    console.log(`      ${hour.summary()}; ${hour.alerts.length} alerts`);
  });
});

/** The end of the slug by which a message tells two sessions of one name apart; of another session than `other`. */
async function nameOf(hour: AlertHour, other = ''): Promise<string> {
  const names = (await hour.rows()).map(({ slug }) => slug.slice(-4));
  return names.find((name) => !other.includes(name)) ?? '';
}
