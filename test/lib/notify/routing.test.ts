import { expect } from 'chai';

import { parseRequest } from '../../../src/lib/notify/message';
import {
  route,
  routesReport,
  type Plan,
  type RoutingMoment,
  type RoutingSettings,
} from '../../../src/lib/notify/routing';
import type { ChannelId } from '../../../src/lib/notify/events';
import { defaultConfig } from '../../../src/lib/config/load';
import { userArea } from '../../../src/lib/config/user-area';
import { NINE } from '../../helpers/notify';

const area = userArea({ platform: 'linux', env: { STEWARD_HOME: '/nonexistent' }, home: '/nonexistent' });
const { routing, thresholds, voice } = defaultConfig(area, '/nonexistent').settings.notifications;
const settings: RoutingSettings = {
  routing,
  spoken: voice.events,
  ...thresholds,
  quietHours: undefined,
  zone: 'UTC',
};
const channelsThat = (offOf: (id: ChannelId) => string | undefined): RoutingMoment['channels'] =>
  (['voice', 'desktop', 'terminal', 'push', 'chat', 'telegram', 'sms'] as const).map((id) => ({
    id,
    ...(id === 'push' ? { isHeld: true } : {}),
    off: () => (offOf(id) === undefined ? undefined : { reason: offOf(id) ?? '', hint: '' }),
  }));
const moment: RoutingMoment = {
  nowMs: NINE,
  muted: false,
  cronVoice: false,
  maySpeak: true,
  channels: channelsThat((id) => (id === 'sms' ? 'no command is set' : undefined)),
};
const QUIET = { ...settings, quietHours: '08:00-10:00' };

function plan(
  body: object,
  more: { settings?: RoutingSettings; moment?: Partial<RoutingMoment> } = {},
): Plan {
  return route(parseRequest({ message: 'x', ...body }), more.settings ?? settings, {
    ...moment,
    ...more.moment,
  });
}
const to = (made: Plan): string => made.deliveries.map(({ channel }) => channel).join(' ');

describe('notify: routing', () => {
  it('has the documented defaults', () => {
    expect(to(plan({}))).to.equal('voice');
    expect(to(plan({ event: 'longTask' }))).to.equal('voice push');
    expect(to(plan({ event: 'backgroundAgent' }))).to.equal('push');
    expect(to(plan({ event: 'error' }))).to.equal('voice push');
    expect(to(plan({ event: 'security' }))).to.equal('voice push chat');
  });

  it('speaks the events that the settings name', () => {
    const own = { ...settings, spoken: ['reminder', 'security'] as const };
    expect(to(plan({}, { settings: own }))).to.equal('');
    expect(plan({}, { settings: own }).skipped).to.deep.equal([]);
    expect(to(plan({ event: 'error' }, { settings: own }))).to.equal('push');
    expect(to(plan({ event: 'security' }, { settings: own }))).to.equal('voice push chat');
    expect(to(plan({ event: 'reminder' }, { settings: own }))).to.equal('voice desktop push');
    expect(to(plan({ event: 'reminder', voice_enabled: false }, { settings: own }))).to.equal('desktop push');
  });

  it('shows what needs you on your terminals if no other channel does', () => {
    const server = channelsThat((id) =>
      ['voice', 'desktop', 'push', 'sms'].includes(id) ? 'not here' : undefined,
    );
    const at = { moment: { channels: server } };
    expect(to(plan({ event: 'attention' }, at))).to.equal('terminal');
    expect(to(plan({ event: 'error' }, at))).to.equal('terminal');
    expect(to(plan({}, at))).to.equal('');
    expect(to(plan({ event: 'attention' }))).to.equal('voice desktop push');
    const pushes = channelsThat((id) => (['voice', 'desktop', 'sms'].includes(id) ? 'not here' : undefined));
    expect(to(plan({ event: 'attention' }, { moment: { channels: pushes } }))).to.equal('push');
  });

  it('sends what another program has pushed already by no push', () => {
    const own = { ...settings, routing: { ...routing, error: ['push', 'telegram', 'chat'] as const } };
    const request = parseRequest({ message: 'x', event: 'error', voice_enabled: false });
    expect(to(route(request, own, moment))).to.equal('push chat telegram');
    expect(to(route({ ...request, isBridged: true }, own, moment))).to.equal('chat');
  });

  it('sends what a job reports to your phone only if that is set up', () => {
    const plain = parseRequest({ message: 'x' });
    const request = { ...plain, source: 'job' as const };
    expect(route(request, settings, moment).skipped).to.deep.equal([]);
    const withSms = { ...moment, channels: channelsThat(() => undefined) };
    expect(to(route(request, settings, withSms))).to.equal('desktop sms');
    const none = { ...moment, channels: [] };
    expect(route(plain, settings, none).skipped).to.deep.equal([{ channel: 'voice', reason: 'unsupported' }]);
  });

  describe('reaches you where you are', () => {
    const noPush = channelsThat((id) => (id === 'push' || id === 'sms' ? 'not here' : undefined));
    const onlyDesktop = { ...settings, routing: { ...routing, taskComplete: ['desktop'] as const } };
    const nowhere = { ...settings, routing: { ...routing, attention: [] } };
    const cases: [
      where: string,
      reach: 'desk' | 'away' | undefined,
      made: string,
      Parameters<typeof plan>[1]?,
      event?: string,
    ][] = [
      ['anywhere', undefined, 'voice desktop push'],
      ['at the desk', 'desk', 'voice desktop'],
      ['away', 'away', 'push'],
      ['away without push', 'away', 'desktop', { moment: { channels: noPush } }],
      ['away, for an event that is not pushed', 'away', 'desktop', { settings: onlyDesktop }, 'taskComplete'],
      ['away, for an event without channels', 'away', '', { settings: nowhere }],
    ];
    for (const [where, reach, made, more, event = 'attention'] of cases) {
      it(where, () => {
        const request = {
          ...parseRequest({ message: 'x', event }),
          ...(reach === undefined ? {} : { reach }),
        };
        const at = { ...moment, ...more?.moment };
        expect(to(route(request, more?.settings ?? settings, at))).to.equal(made);
      });
    }
  });

  it('is quiet from the first minute of the quiet hours, and not before', () => {
    const heldAt = (quietHours: string): boolean =>
      plan({ event: 'backgroundAgent' }, { settings: { ...settings, quietHours } }).deliveries[0]?.silent ??
      false;
    expect(
      ['09:00-10:00', '09:01-10:00', '08:30-09:00', '08:30-09:01', '23:00-09:01'].map(heldAt),
    ).to.deep.equal([true, false, false, true, true]);
  });

  it('follows the settings', () => {
    const own = { ...settings, routing: { ...routing, taskComplete: ['chat', 'desktop'] as const } };
    expect(to(plan({}, { settings: own }))).to.equal('voice desktop chat');
  });

  it('turns a task longer than the threshold into a longTask', () => {
    expect(plan({ durationSec: 300 }).event).to.equal('taskComplete');
    expect(plan({ durationSec: 300.5 }).event).to.equal('longTask');
    expect(plan({ durationSec: 9999, event: 'error' }).event).to.equal('error');
    expect(plan({ durationSec: 61 }, { settings: { ...settings, longTaskMinutes: 1 } }).event).to.equal(
      'longTask',
    );
  });

  it("uses the event's priority by default", () => {
    expect([plan({}).priority, plan({ event: 'error' }).priority, plan({ event: 'security' }).priority]).to.deep.equal([3, 4, 5]); // prettier-ignore
    expect(plan({ event: 'security', priority: 1 }).priority).to.equal(1);
  });

  it('speaks unless the caller switches the voice off', () => {
    const silent = plan({ voice_enabled: false });
    expect([to(silent), silent.skipped]).to.deep.equal(['', []]);
    expect(to(plan({ voice_enabled: false, event: 'error' }))).to.equal('push');
  });

  it('shows what it noticed until it may speak, and speaks what is sent', () => {
    const noticed = { ...parseRequest({ message: 'x' }), isNoticed: true };
    const made = route(noticed, settings, { ...moment, maySpeak: false });
    expect(to(made)).to.equal('desktop');
    expect(made.skipped).to.deep.equal([{ channel: 'voice', reason: 'speech of events is off' }]);
    expect(to(route(noticed, settings, moment))).to.equal('voice');
    expect(to(plan({}, { moment: { maySpeak: false } }))).to.equal('voice');
  });

  it('voices only the assistant, and shows a subagent', () => {
    const made = plan({ source: 'subagent' });
    expect(to(made)).to.equal('desktop');
    expect(made.skipped).to.deep.equal([{ channel: 'voice', reason: 'subagent messages are not spoken' }]);
    expect(to(plan({ source: 'subagent', voice_enabled: false }))).to.equal('');
    expect(to(plan({ source: 'subagent', event: 'backgroundAgent' }))).to.equal('push');
  });

  it('voices a job only with DAEMON_CRON_VOICE=1', () => {
    const job = { source: 'job' };
    expect(plan(job).deliveries).to.deep.equal([{ channel: 'desktop', silent: true }]);
    const allowed = { moment: { cronVoice: true } };
    expect(to(plan(job, allowed))).to.equal('voice desktop');
    expect(to(plan({ ...job, voice_enabled: false }, allowed))).to.equal('desktop');
    expect(to(plan({ voice_enabled: true, source: 'subagent' }, allowed))).to.equal('desktop');
  });

  it('sends jobs to the SMS program if one is set', () => {
    const withSms = { moment: { channels: channelsThat(() => undefined) } };
    expect(to(plan({ source: 'job' }, withSms))).to.equal('desktop sms');
    expect(to(plan({}, withSms))).to.equal('voice');
  });

  it('shows a silent banner when muted', () => {
    const made = plan({ event: 'error' }, { moment: { muted: true } });
    expect(made.deliveries).to.deep.equal([
      { channel: 'desktop', silent: true },
      { channel: 'push', silent: true },
    ]);
    expect(made.skipped).to.deep.equal([{ channel: 'voice', reason: 'muted' }]);
    expect(to(plan({ event: 'security' }, { moment: { muted: true } }))).to.equal('desktop push chat');
  });

  it('holds only pushes until the quiet hours end, and shows banners instead of speaking', () => {
    const heldUntil = NINE + 3_600_000;
    const made = plan({ event: 'error' }, { settings: QUIET });
    expect(made.deliveries).to.deep.equal([
      { channel: 'desktop', silent: true },
      { channel: 'push', silent: true, heldUntil },
    ]);
    expect(made.skipped).to.deep.equal([{ channel: 'voice', reason: 'quiet hours' }]);
  });

  it('passes quiet hours with security and priority 5', () => {
    for (const body of [
      { event: 'security' },
      { event: 'security', priority: 2 },
      { event: 'error', priority: 5 },
    ]) {
      const made = plan(body, { settings: QUIET });
      expect(to(made)).to.match(/^voice push/);
      expect(made.deliveries.every(({ silent, heldUntil }) => !silent && heldUntil === undefined)).to.equal(
        true,
      );
    }
  });

  it('skips a channel that is not set up, and shows a banner for the voice', () => {
    const channels = channelsThat((id) => (id === 'push' || id === 'voice' ? 'no topic' : undefined));
    const made = plan({ event: 'security' }, { moment: { channels } });
    expect(to(made)).to.equal('desktop chat');
    expect(made.skipped).to.deep.equal([
      { channel: 'voice', reason: 'no topic' },
      { channel: 'push', reason: 'no topic' },
    ]);
  });

  it('reports a channel as off where nothing can show its messages', async () => {
    const trouble = { reason: 'no terminal here', hint: 'Open one.' };
    const clock = { now: () => NINE, monotonic: () => NINE };
    const channel = (id: 'push' | 'terminal', off: boolean) => ({
      id,
      off: () => (off ? trouble : undefined),
      absent: () => Promise.resolve(id === 'terminal' ? trouble : undefined),
      send: () => Promise.resolve({ outcome: 'delivered' as const }),
    });
    const channels = [channel('push', false), channel('terminal', false)];
    const report = await routesReport({
      ...{ clock, channels, mute: '/nonexistent/mute' },
      settings: () => settings,
      maySpeak: () => true,
    });
    expect(report.off).to.deep.equal([{ channel: 'terminal', ...trouble }]);
  });

  it('is deterministic', () => {
    expect(plan({ event: 'error' }, { settings: QUIET })).to.deep.equal(
      plan({ event: 'error' }, { settings: QUIET }),
    );
  });
});
