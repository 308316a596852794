import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { NEXT_DOOR, startHour, type HourOptions } from './assistant-hour';
import { BIN } from './cli';
import { until } from './desktop-kit';
import type { MovableClock } from './faketime';
import { notifyServer, ntfyOk } from './notify-server';

/** An alert of a script: what it says, and where it comes. */
export type Alert = readonly [text: string, ...channels: ('push' | 'terminal')[]];

const BANNER = /\u001b\]777;notify;[^;]*;([^\u001b]*)\u001b\\/g;
const HALF_MINUTE_MS = 30_000;
/** The default of `sense.idleAfterSec`. */
const AWAY_AFTER_MS = 300_000;

/**
 * An hour with a daemon that pushes to a server on loopback and shows banners on the terminal of tmux's client, where a
 * person types at times.
 */
export async function startAlertHour(clock: MovableClock, options: HourOptions) {
  const server = await notifyServer(ntfyOk);
  const hour = await startHour(options);
  const { steward, tmux, home, folder } = hour;
  const alerts: Alert[] = [];
  /** When the person typed, and whether the daemon saw it only after an absence. */
  const inputs: { ms: number; isReturn: boolean }[] = [];

  for (const [key = '', ...values] of [
    ['notifications.push.server', server.url],
    ['notifications.push.topic', 'hour'],
    ['notifications.push.detail', 'full'],
    ['notifications.routing.attention', 'push,terminal'],
    ['notifications.routing.error', 'push,terminal'],
    ['notify.voice.engine', 'none'],
    ['sense.pollIntervalSec', '10'],
    ['sense.repos', folder],
  ])
    await steward('config', 'set', key, ...values);
  await steward('sense', 'capture');
  const screen = await hour.attach(NEXT_DOOR, 'foot');

  const expected = (channel: 'push' | 'terminal'): string[] =>
    alerts.filter(([, ...channels]) => channels.includes(channel)).map(([text]) => text);
  const pushes = (): unknown[] => server.got.map(({ body }) => body['message']);
  const banners = (): (string | undefined)[] => [...screen.text().matchAll(BANNER)].map(([, text]) => text);
  /** A delivery in progress would count as late once the clock moves. */
  const isSettled = (): boolean =>
    ['', 'claimed'].every((place) => {
      const path = join(home, '.steward', 'state', 'outbox', place);
      return !existsSync(path) || readdirSync(path).every((name) => !name.endsWith('.json'));
    });
  const lastCapture = (): number => {
    const state = readFileSync(join(home, '.steward', 'sense', 'state.json'), 'utf8');
    return Date.parse((JSON.parse(state) as { lastCaptureTs: string }).lastCaptureTs);
  };

  return {
    ...hour,
    alerts,
    /** Starts the daemon, and waits until it has seen the terminal: a busy machine takes its time for that. */
    async startDaemon(): Promise<void> {
      const fromMs = clock.now();
      const line = [process.execPath, BIN, 'daemon', 'serve', '--port', '0'];
      hour.open('daemon', line, clock.withTimers);
      await hour.shows('daemon', 'Listening on');
      await until('a capture', () => lastCapture() >= fromMs);
    },
    /** Types in the pane that the client shows. */
    async types(): Promise<void> {
      const from = Math.floor(clock.now() / 1000);
      const isReturn = clock.now() - (inputs.at(-1)?.ms ?? clock.now()) > AWAY_AFTER_MS;
      inputs.push({ ms: clock.now(), isReturn });
      screen.type(' ');
      await until('tmux sees the input', () => {
        const seconds = Number(tmux('list-clients', '-F', '#{client_activity}'));
        return seconds >= from && seconds * 1000 <= clock.now();
      });
    },
    /** Lets minutes pass, in which the person types or is away. The daemon sees each half of them. */
    async passes(minutes: number, person: 'types' | 'is away'): Promise<void> {
      for (let half = 0; half < minutes * 2; half += 1) {
        if (person === 'types') await this.types();
        const nextMs = clock.now() + HALF_MINUTE_MS;
        clock.set(nextMs);
        await until('a capture', () => lastCapture() >= nextMs);
      }
    },
    /** The person's minutes: from input to input, without absences and the half minute before the daemon sees a return. */
    minutes(): number {
      const spans = inputs.slice(1).map(({ ms, isReturn }, i) => {
        const before = inputs[i] ?? { ms, isReturn };
        return isReturn ? 0 : ms - before.ms - (before.isReturn ? HALF_MINUTE_MS : 0);
      });
      return spans.reduce((sum, ms) => sum + ms, 0) / 60_000;
    },
    /** Waits for the next alert of the script. */
    async alerted(...alert: Alert): Promise<void> {
      alerts.push(alert);
      const isThere = (): boolean =>
        pushes().length >= expected('push').length &&
        banners().length >= expected('terminal').length &&
        isSettled();
      await until(`the alert ${alert.join(', ')}`, isThere).catch(() => undefined);
      this.checkAlerts();
    },
    /** Checks that there was each alert of the script, and no other. */
    checkAlerts(): void {
      expect(pushes(), 'pushes').to.deep.equal(expected('push'));
      expect(banners(), 'banners').to.deep.equal(expected('terminal'));
    },
    async close(): Promise<void> {
      await hour.close();
      await server.close();
    },
  };
}

export type AlertHour = Awaited<ReturnType<typeof startAlertHour>>;
