import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { keepLimits } from '../../../src/lib/assistant/status-input';
import { collectUsage } from '../../../src/lib/usage/collect';
import { announceLimits, currentLimits, forecastTexts, limitTexts } from '../../../src/lib/usage/limits';
import { scratch } from '../../helpers/scratch';
import { codexStart, codexTotals, NOW, usageBox } from '../../helpers/usage';

const MINUTE = 60_000;
const RESET = '2026-11-20T14:00:00.000Z';
const localTime = (iso: string): string => iso.slice(11, 16);

describe('usage limits (lib)', () => {
  const box = scratch();

  const report = (usage: ReturnType<typeof usageBox>, usedPercent: number, resetsAt = RESET): void =>
    keepLimits(
      usage.deps.limits,
      'claude-code',
      { fiveHour: { usedPercent, resetsAt }, sevenDay: { usedPercent: 3, resetsAt: null } },
      usage.deps.clock.now(),
    );

  const announced = async (usage: ReturnType<typeof usageBox>): Promise<string[]> => {
    const sent: string[] = [];
    await announceLimits(
      { ...usage.deps, nowMs: usage.deps.clock.now(), localTime, zone: 'UTC', budgets: [] },
      ({ message }) => {
        sent.push(message);
        return Promise.resolve();
      },
    );
    return sent;
  };

  it('come from the status line and from the logs', async () => {
    const usage = usageBox(box.path());
    report(usage, 63);
    const primary = { used_percent: 40, window_minutes: 300, resets_at: Date.parse(RESET) / 1000 };
    usage.log('.codex/sessions/rollout-1.jsonl', [
      ...codexStart('c1'),
      codexTotals([1, 0, 1], '2026-11-20T11:00:00.000Z', { primary }),
    ]);
    await collectUsage(usage.deps);
    expect(limitTexts(currentLimits(usage.deps, NOW), localTime)).to.deep.equal([
      'Claude Code: 5 h 63% until 14:00, week 3%',
      'Codex: 5 h 40% until 14:00',
    ]);
    const later = Date.parse(RESET) + MINUTE;
    expect(limitTexts(currentLimits(usage.deps, later), localTime)).to.deep.equal(['Claude Code: week 3%']);
    expect(currentLimits(usage.deps, NOW + 8 * 86_400_000)).to.deep.equal([]);
  });

  it('have no reset time if the log has an implausible one', async () => {
    for (const resets of [99_999_999_999_999, Date.parse(RESET), 1e300, -1, 0]) {
      const usage = usageBox(box.path(`reset-${resets}`));
      const primary = { used_percent: 40, window_minutes: 300, resets_at: resets };
      usage.log('.codex/sessions/rollout-1.jsonl', [
        ...codexStart('c1'),
        codexTotals([1, 0, 1], '2026-11-20T11:00:00.000Z', { primary }),
      ]);
      await collectUsage(usage.deps);
      expect(limitTexts(currentLimits(usage.deps, NOW), localTime), String(resets)).to.deep.equal([
        'Codex: 5 h 40%',
      ]);
    }
  });

  it('are unknown rather than wrong when the file is damaged', () => {
    const usage = usageBox(box.path());
    mkdirSync(dirname(usage.deps.limits), { recursive: true });
    for (const text of [
      '{',
      '[]',
      '{"assistants":{"x":3,"y":{"seenAt":"?","fiveHour":{"usedPercent":"9"}}}}',
    ]) {
      writeFileSync(usage.deps.limits, text);
      expect(currentLimits(usage.deps, NOW)).to.deep.equal([]);
    }
  });

  it('are announced once at 80% and once at the reset, also after a restart', async () => {
    const usage = usageBox(box.path());
    report(usage, 79);
    expect(await announced(usage)).to.deep.equal([]);
    usage.at(NOW + 2 * MINUTE);
    report(usage, 80);
    expect(await announced(usage)).to.deep.equal([
      // Steps that no run saw make the pace uncertain.
      'Claude Code: 80% of the five-hour limit has been used. It resets at 14:00. At this pace, the five-hour limit may be reached from Fri 12:02 on, or not before it resets.',
    ]);
    // A later report of the same window, whose reset moved by a second.
    usage.at(NOW + 4 * MINUTE);
    report(usage, 97, '2026-11-20T14:00:01.000Z');
    expect(await announced(usage)).to.deep.equal([]);
    usage.at(Date.parse(RESET) + 2 * MINUTE);
    expect(await announced(usage)).to.deep.equal(['Claude Code: the five-hour limit has been reset.']);
    expect(await announced(usage)).to.deep.equal([]);
    report(usage, 85, '2026-11-20T19:00:00.000Z');
    expect(await announced(usage)).to.have.length(1);
  });

  it('are forecast from the steps that each run saw, in the alert too', async () => {
    const usage = usageBox(box.path());
    const sent: string[] = [];
    for (let minute = 10; minute <= 200; minute += 10) {
      usage.at(Date.parse(RESET) - (300 - minute) * MINUTE);
      report(usage, Math.floor(minute * 0.4));
      sent.push(...(await announced(usage)));
    }
    const pace = 'At this pace, the five-hour limit is probably reached between Fri 12:59 and Fri 13:20.';
    const limits = currentLimits(usage.deps, usage.deps.clock.now());
    const texts = forecastTexts(usage.deps.state, limits, usage.deps.clock.now(), 'UTC');
    expect(texts).to.deep.equal([
      `Claude Code: ${pace}`,
      'Claude Code: No forecast for the weekly limit, because its reset time is unknown.',
    ]);
    expect(sent).to.deep.equal([
      `Claude Code: 80% of the five-hour limit has been used. It resets at 14:00. ${pace}`,
    ]);
  });

  it('are announced again with the same key after a crash, so that nothing is sent twice', async () => {
    const usage = usageBox(box.path());
    report(usage, 90);
    const keys: string[] = [];
    const deps = { ...usage.deps, nowMs: NOW, localTime, budgets: [] };
    const crash = announceLimits(deps, ({ dedupe, message }) => {
      keys.push(`${dedupe} ${message}`);
      return Promise.reject(new Error('killed'));
    });
    await crash.catch(() => undefined);
    await announceLimits(deps, ({ dedupe, message }) => {
      keys.push(`${dedupe} ${message}`);
      return Promise.resolve();
    });
    expect(keys).to.have.length(2);
    expect(new Set(keys).size).to.equal(1);
  });

  it('are not announced long after their reset', async () => {
    const usage = usageBox(box.path());
    report(usage, 90);
    await announced(usage);
    usage.at(Date.parse(RESET) + 7 * 60 * MINUTE);
    expect(await announced(usage)).to.deep.equal([]);
  });
});
