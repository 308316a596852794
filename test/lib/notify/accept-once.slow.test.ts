import { expect } from 'chai';
import { mkdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

import { acceptOnce, acceptUnanswered } from '../../../src/lib/notify/accept';
import { newId, waitingNames } from '../../../src/lib/notify/outbox';
import { withLock } from '../../../src/lib/platform/files/lock';
import { timeOfName } from '../../../src/lib/platform/files/spool';
import { MINUTE, NINE, notifyWorld, type NotifyWorld } from '../../helpers/notify';
import { rejection } from '../../helpers/errors';

const DAY = 24 * 60 * MINUTE;
const BODY = { message: 'Done', event: 'security' };

describe('notify: a message that the daemon did not answer', () => {
  let world: NotifyWorld;
  beforeEach(() => {
    world = notifyWorld();
  });
  afterEach(() => world.remove());

  const idOf = (): string => newId(world.deps.clock);
  const files = (id: string): string[] => waitingNames(world.deps).filter((name) => name.startsWith(id));
  const accepted = (): string[] => world.entries().map((entry) => entry.id);

  it('is not accepted twice if the daemon had accepted it', async () => {
    const id = idOf();
    expect(await acceptOnce(world.deps, BODY, id)).to.deep.equal({ status: 'accepted', id });
    const before = files(id);
    expect(before).to.have.length(3);
    const unanswered = await acceptUnanswered(world.deps, BODY, id);
    expect(unanswered).to.deep.equal({ accepted: { status: 'accepted', id }, by: 'daemon' });
    expect([files(id), accepted()]).to.deep.equal([before, [id]]);
  });

  it('is accepted by the sender, and not by a daemon that goes on later', async () => {
    const id = idOf();
    const { by } = await acceptUnanswered(world.deps, BODY, id);
    expect([by, accepted()]).to.deep.equal(['sender', [id]]);
    for (const name of files(id)) expect(name).to.match(/\.(voice|push|chat)\.json$/);
    const phases: string[] = [];
    const deps = { ...world.deps, phaseEffect: (name: string) => Promise.resolve(void phases.push(name)) };
    world.nowMs += 23 * 60 * MINUTE;
    expect(await acceptOnce(deps, { ...BODY, phase: 'execute' }, id)).to.deep.equal({
      status: 'accepted',
      id,
    });
    expect([phases, accepted(), files(id).length]).to.deep.equal([[], [id], 3]);
  });

  it('is accepted by exactly one of two processes at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = idOf();
      const both = [acceptOnce(world.deps, BODY, id), acceptUnanswered(world.deps, BODY, id)];
      await Promise.all(round % 2 === 0 ? both : both.reverse());
      expect(accepted().filter((one) => one === id)).to.have.length(1);
      expect(files(id)).to.have.length(3);
    }
  });

  it('has an unknown result if the daemon hangs while accepting it, and is not sent twice', async function () {
    this.timeout(60_000);
    const id = idOf();
    const lock = { clock: world.deps.clock, machineId: world.deps.machineId, waitMs: 0 };
    const error = await withLock(join(world.deps.locks, 'notify-accept.lock'), lock, () =>
      rejection(acceptUnanswered(world.deps, BODY, id)),
    );
    expect(error).to.include({ kind: 'unavailable' });
    expect(error.message).to.include(`${id}. It may still send the message.`);
    expect([accepted(), files(id)]).to.deep.equal([[], []]);
  });

  it('is accepted by the sender if the daemon refused it', async () => {
    const id = idOf();
    // A folder in place of the log fails like a full disk.
    world.channels.chat.offReason = 'switched off';
    mkdirSync(world.deps.history, { recursive: true });
    await rejection(acceptOnce(world.deps, BODY, id));
    expect(files(id)).to.deep.equal([]);
    rmdirSync(world.deps.history);
    expect((await acceptUnanswered(world.deps, BODY, id)).by).to.equal('sender');
    expect(files(id)).to.have.length(2);
  });

  it('is completed by the sender if the daemon was killed while accepting it', async () => {
    const id = idOf();
    await acceptOnce(world.deps, BODY, id);
    rmSync(join(world.deps.outbox, `${id}.chat.json`));
    expect((await acceptUnanswered(world.deps, BODY, id)).by).to.equal('sender');
    expect([files(id).length, accepted()]).to.deep.equal([3, [id]]);
  });

  it('reports that the result of its phase is unknown', async () => {
    const id = idOf();
    const deps = { ...world.deps, phaseEffect: () => Promise.resolve(undefined) };
    await acceptOnce(deps, { ...BODY, phase: 'execute' }, id);
    const { accepted: again } = await acceptUnanswered(deps, { ...BODY, phase: 'execute' }, id);
    expect(again).to.deep.equal({ status: 'accepted', id, phase: 'not known' });
  });

  it('is refused if its id is invalid or older than a day', async () => {
    const id = idOf();
    expect(timeOfName(id)).to.equal(NINE);
    world.nowMs += DAY;
    expect(await rejection(acceptOnce(world.deps, BODY, id))).to.include({ kind: 'conflict' });
    world.nowMs = NINE - DAY;
    expect(await rejection(acceptOnce(world.deps, BODY, id))).to.include({ kind: 'conflict' });
    for (const wrong of [7, '', '../x', `${id}/..`, '20261399T999999999Z-0123456789ab']) {
      expect(await rejection(acceptOnce(world.deps, BODY, wrong))).to.have.property('kind').that.is.oneOf(['usage', 'conflict']); // prettier-ignore
    }
    expect(accepted()).to.deep.equal([]);
  });
});
