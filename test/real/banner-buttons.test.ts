import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createContext, type Context } from '../../src/lib/app/context';
import { openPushes } from '../../src/lib/app/pushes';
import { loadConfig } from '../../src/lib/config/load';
import type { DaemonJob } from '../../src/lib/daemon/jobs';
import { pushesJob } from '../../src/lib/daemon/pushes-job';
import { answerTo, takeAnswer, type Ask, type AskDecision } from '../../src/lib/inbox/asks';
import type { Channel } from '../../src/lib/notify/channels/channel';
import { desktopChannel } from '../../src/lib/notify/channels/desktop';
import { readPushes } from '../../src/lib/notify/pushes';
import { run } from '../../src/lib/platform/process/process';
import { testArea, type TestArea } from '../helpers/area';
import { askToMake } from '../helpers/asks';
import { desktopKit, startBus, startXvfb, until, type DesktopKit } from '../helpers/desktop-kit';
import { parcel } from '../helpers/notify';
import { requirePrograms } from '../helpers/real-part';

describe('the buttons of banners, with a real notification service (dunst)', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  let area: TestArea;
  let context: Context;
  let channel: Channel;
  let job: DaemonJob;

  before(async function () {
    requirePrograms(this, {
      Xvfb: 'xvfb',
      'dbus-daemon': 'dbus',
      dunst: 'dunst',
      dunstctl: 'dunst',
      gdbus: 'libglib2.0-bin',
    });
    kit = desktopKit();
    await startXvfb(kit);
    await startBus(kit);
    // dunst asks this program which action you choose: the one in the file `wanted`.
    const menu = join(kit.home, 'menu');
    writeFileSync(
      menu,
      `#!/bin/sh\ncd ${kit.home}\ncat >offered\ngrep -F "#$(cat wanted) (" offered\ntouch choice\n`,
    );
    chmodSync(menu, 0o755);
    const settings = join(kit.home, 'dunstrc');
    writeFileSync(settings, `[global]\ndmenu = ${menu}\n`);
    kit.start('dunst', ['-conf', settings]);
    await until('dunst answers', () => spawnSync('dunstctl', ['count'], { env: { ...kit.env } }).status === 0, 30_000); // prettier-ignore
  });
  beforeEach(() => {
    area = testArea();
    context = {
      ...createContext(area.home),
      clock: area.deps.clock,
      area: area.area,
      machineId: '0123456789ab',
      loadConfig: () => loadConfig({ area: area.area, env: {} }),
    } as Context;
    startDaemon();
  });
  /** What a daemon that has just started has: no connection to the bus, and the stored pushes. */
  function startDaemon(): void {
    const [banners, pushes] = [join(area.home, 'banners.json'), openPushes(context, true)];
    channel = desktopChannel({ platform: 'linux', run, env: kit.env, banners, pushes });
    job = pushesJob(context, pushes, channel);
  }
  afterEach(() => {
    kit.tell('dunstctl', 'close-all');
    area.remove();
  });
  after(() => kit?.stop());

  const ask = (more?: Parameters<typeof askToMake>[2]): Promise<Ask> => askToMake(context, Date.now(), more);
  const show = async (): Promise<void> => {
    const about = { event: 'attention', message: 'shop asks to run Bash.', thread: 'shop' } as const;
    expect(await channel.send(parcel(about), () => undefined)).to.deep.equal({ outcome: 'delivered' });
  };
  const displayed = (): number => Number(kit.tell('dunstctl', 'count', 'displayed'));
  const choice = (): string => join(kit.home, 'choice');
  /** Presses a button of the last banner, and returns the labels of all. */
  async function press(label: string): Promise<string[]> {
    rmSync(choice(), { force: true });
    writeFileSync(join(kit.home, 'wanted'), label);
    kit.tell('dunstctl', 'context');
    await until('dunst has shown the buttons', () => existsSync(choice()));
    return readFileSync(join(kit.home, 'offered'), 'utf8').match(/(?<=^#).*?(?= \()/gm) ?? [];
  }
  const answered = (held: Ask): Promise<AskDecision> =>
    until('the answer', async () => {
      await job.run();
      return answerTo(context, held);
    });

  it('allow a tool, are logged, and go', async () => {
    const held = await ask();
    await show();
    expect((await press('Allow')).sort()).to.deep.equal(['Allow', 'Deny']);
    expect((await answered(held)).behavior).to.equal('allow');
    expect(area.read('observability/answers.jsonl')).to.include('"from":"a banner"').and.not.include('make');
    expect(readPushes(openPushes(context, true))).to.deep.equal([]);
  });

  it('answer a question of an agent', async () => {
    const questions = [{ text: 'Which one?', options: ['First', 'Second'] }];
    const held = await ask({ kind: 'ask', tool: 'ask_me', questions, isHeld: false });
    await show();
    expect(await press('Second')).to.have.members(['First', 'Second', 'Deny']);
    expect((await answered(held)).texts).to.deep.equal(['Second']);
  });

  it('only refuse what is not listed, or what a banner can not show in full', async () => {
    await takeAnswer(context, await ask({ canAllow: false }));
    for (const more of [{ canAllow: false }, { input: JSON.stringify({ command: 'x'.repeat(300) }) }]) {
      const held = await ask(more);
      await show();
      expect(await press('Deny')).to.deep.equal(['Deny']);
      expect((await answered(held)).behavior).to.equal('deny');
      await takeAnswer(context, held);
      kit.tell('dunstctl', 'close-all');
    }
  });

  it('take no token of another program, and none twice', async () => {
    const held = await ask();
    await show();
    const [{ buttons } = { buttons: [] }] = readPushes(openPushes(context, true));
    const signal = ['--session', '--object-path', '/org/freedesktop/Notifications', '--signal', 'org.freedesktop.Notifications.ActionInvoked']; // prettier-ignore
    kit.tell('gdbus', 'emit', ...signal, '1', 'f'.repeat(32));
    await press('Deny');
    expect((await answered(held)).behavior).to.equal('deny');
    kit.tell('gdbus', 'emit', ...signal, '1', buttons[0]?.token ?? '');
    await job.run();
    expect(answerTo(context, held)?.behavior).to.equal('deny');
    expect(area.read('observability/answers.jsonl').trim().split('\n')).to.have.length(1);
  });

  it('work after a restart of the daemon, in a banner that replaces the earlier one', async () => {
    const [held, other] = [await ask(), await ask({ slug: 'other', session: 's2' })];
    await show();
    const [{ buttons } = { buttons: [] }] = readPushes(openPushes(context, true));
    startDaemon();
    await channel.send(
      parcel({ event: 'attention', message: 'other asks.', thread: 'other' }),
      () => undefined,
    );
    await job.run();
    expect(displayed()).to.equal(2);
    const pushes = readPushes(openPushes(context, true));
    expect(pushes.map(({ thread, wait }) => [thread, wait])).to.have.deep.members([
      ['other', other.id],
      ['shop', held.id],
    ]);
    expect(JSON.stringify(pushes)).not.to.include(buttons[0]?.token);
    // The one that was shown last is on top.
    await press('Allow');
    expect((await answered(held)).behavior).to.equal('allow');
    expect(answerTo(context, other)).to.equal(undefined);
    await takeAnswer(context, other);
    kit.tell('dunstctl', 'close-all');
    startDaemon();
    await job.run();
    expect(displayed(), 'what no longer waits is not shown again').to.equal(0);
  });

  it('go with their banner when the wait ends elsewhere', async () => {
    const held = await ask();
    await show();
    await job.run();
    expect(displayed()).to.equal(1);
    await takeAnswer(context, held);
    await job.run();
    expect(displayed()).to.equal(0);
  });

  it('are not offered by a process that can not read the answers', async () => {
    await ask();
    const pushes = openPushes(context, false);
    channel = desktopChannel({ platform: 'linux', run, env: kit.env, banners: join(area.home, 'b'), pushes });
    await show();
    expect(readPushes(pushes)[0]).to.deep.include({ buttons: [], text: '' });
  });
});
