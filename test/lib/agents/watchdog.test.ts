import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';

import { watchedSessions, SILENCE_MS, watch, type SilenceAlert } from '../../../src/lib/agents/watchdog';
import { areaAt } from '../../../src/lib/config/user-area';
import type { SessionsDeps } from '../../../src/lib/sessions/state';
import { appendWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';
import { rejection } from '../../helpers/errors';
import { scratch } from '../../helpers/scratch';

const START = Date.parse('2026-11-20T09:00:00Z');

describe('watchdog', () => {
  const { path } = scratch();
  let now = START;

  beforeEach(() => {
    now = START;
    mkdirSync(path('state'));
  });

  function deps(): SessionsDeps {
    return {
      area: areaAt(path(), undefined, {
        platform: process.platform,
        env: { XDG_STATE_HOME: path('local') },
        home: path(),
      }),
      clock: { now: () => now, monotonic: () => now - START },
      machineId: '0123456789ab',
      dayOf: () => '2026-11-20',
    };
  }

  function happens(type: WorkEvent['type'], more: Partial<WorkEvent> = {}): void {
    const ts = new Date(now).toISOString();
    const event: WorkEvent = { ts, type, session: 'one', slug: null, repo: 'notes', ...more };
    appendWorkEvent(path('state', 'work-events.jsonl'), event);
  }

  function launch(session = 'one'): void {
    happens('session-start', { session });
    happens('tool-before', { session, tool: 'Task' });
    happens('subagent-start', { session, agent: 'a1' });
  }

  /** Runs a watchdog with a step before each of its looks but the first; it ends after the last of them. */
  async function watched(steps: readonly (() => void)[], session?: string): Promise<SilenceAlert[]> {
    const alerts: SilenceAlert[] = [];
    const controller = new AbortController();
    const left = [...steps];
    await watch(deps(), {
      signal: controller.signal,
      alert: (told) => void alerts.push(told),
      pause: () => {
        const step = left.shift();
        if (step === undefined) controller.abort();
        else step();
        return Promise.resolve();
      },
      ...(session === undefined ? {} : { session }),
    });
    return alerts;
  }

  const later = (ms: number) => (): void => {
    now += ms;
  };
  const nothing = (): void => undefined;

  it('reports nothing without sessions', async () => {
    expect(watchedSessions(deps())).to.deep.equal([]);
    expect(await watched([later(SILENCE_MS * 5), nothing])).to.deep.equal([]);
    happens('session-start');
    happens('tool-after', { tool: 'Bash' });
    expect(await watched([later(SILENCE_MS * 5), nothing])).to.deep.equal([]);
  });

  it('alerts once of a silence, and again only after new activity', async () => {
    launch();
    const alerts = await watched([
      later(SILENCE_MS - 1000),
      later(1000),
      later(SILENCE_MS * 3),
      () => happens('tool-after', { tool: 'Bash' }),
      later(SILENCE_MS),
      later(SILENCE_MS),
    ]);
    expect(alerts.map(({ agents, lastTool }) => [agents, lastTool])).to.deep.equal([
      [1, 'Task'],
      [1, 'Bash'],
    ]);
    expect(alerts[0]).to.deep.include({ silentSec: 90, since: new Date(START).toISOString() });
    expect(alerts[1]?.since).not.to.equal(alerts[0]?.since);
    expect(alerts[0]?.message).to.match(/^1 agent in 20261120-notes-[0-9a-f]{8}: no tool call for 90 s\.$/);
  });

  it('ends when its session has no active agent, or the log is gone', async () => {
    const end = async (ends: () => void): Promise<number> => {
      launch();
      let looks = 0;
      await watch(deps(), {
        session: watchedSessions(deps())[0]?.session ?? '',
        untilIdle: true,
        signal: new AbortController().signal,
        alert: () => undefined,
        pause: () => {
          looks += 1;
          if (looks === 2) ends();
          return Promise.resolve();
        },
      });
      return looks;
    };
    expect(await end(() => happens('subagent-stop', { agent: 'a1' }))).to.equal(2);
    expect(await end(() => rmSync(path('state'), { recursive: true }))).to.equal(2);
  });

  it('does not repeat an alert after a restart', async () => {
    launch();
    now += SILENCE_MS;
    expect(await watched([nothing])).to.have.length(1);
    expect(await watched([nothing])).to.deep.equal([]);
    happens('tool-before', { tool: 'Read' });
    now += SILENCE_MS;
    expect(await watched([nothing])).to.have.length(1);
  });

  it('counts from the latest start of an agent, and forgets finished agents', async () => {
    launch();
    now += SILENCE_MS - 1000;
    happens('subagent-start', { agent: 'a2' });
    now += 2000;
    expect(watchedSessions(deps())[0]).to.deep.include({
      agents: 2,
      silentSec: 2,
      silent: false,
      lastTool: 'Task',
    });
    happens('subagent-stop', { agent: 'a1' });
    happens('subagent-stop', { agent: 'a2' });
    now += SILENCE_MS;
    expect(watchedSessions(deps())).to.deep.equal([]);
  });

  it('separates sessions, and watches one until it ends', async () => {
    launch('one');
    launch('two');
    const [first, second] = watchedSessions(deps()).map(({ session }) => session);
    const alerts = await watched(
      [
        later(SILENCE_MS - 1000),
        () => happens('tool-after', { session: 'two', tool: 'Bash' }),
        later(1000),
        () => happens('session-end', { session: 'one' }),
        () => expect.fail('it should have ended'),
      ],
      first,
    );
    expect(second).to.be.a('string');
    expect(alerts.map(({ session }) => session)).to.deep.equal([first]);
  });

  it('refuses a second watchdog of a session', async () => {
    launch();
    const controller = new AbortController();
    const options = { signal: controller.signal, alert: () => undefined };
    const first = watch(deps(), options);
    const error = await rejection(watch(deps(), options));
    expect(error).to.include({
      kind: 'locked',
      message: 'Another watchdog is already watching all sessions.',
    });
    await watch(deps(), { ...options, ifFree: true });
    controller.abort();
    await first;
  });

  it('continues across a rotated log and invalid lines', async () => {
    launch();
    const log = path('state', 'work-events.jsonl');
    const alerts = await watched([
      () => appendFileSync(log, 'nonsense\n{"half":\n'),
      () => renameSync(log, log.replace('.jsonl', '.1.jsonl')),
      () => happens('tool-after', { tool: 'Edit' }),
      later(SILENCE_MS),
    ]);
    expect(alerts.map(({ lastTool }) => lastTool)).to.deep.equal(['Edit']);
  });

  it('does not mistake a clock change for a silence', () => {
    launch();
    now -= 3_600_000;
    expect(watchedSessions(deps())[0]).to.deep.include({ silentSec: 0, silent: false });
  });

  it('survives a broken file of alerts, and refuses a newer format', async () => {
    launch();
    now += SILENCE_MS;
    writeFileSync(path('state', 'watchdog.json'), '{"version":2,"alerts":{}}');
    expect(await rejection(watched([nothing]))).to.include({ kind: 'config' });
    writeFileSync(path('state', 'watchdog.json'), 'nonsense');
    expect(await watched([nothing])).to.have.length(1);
  });
});
