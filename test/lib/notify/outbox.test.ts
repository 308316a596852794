import { expect } from 'chai';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { MAX_WAITING, askRetry, look } from '../../../src/lib/notify/outbox';
import { notifyWorld, type NotifyWorld } from '../../helpers/notify';

describe('the outbox', () => {
  let world: NotifyWorld;
  beforeEach(() => {
    world = notifyWorld();
    mkdirSync(world.deps.outbox, { recursive: true });
  });
  afterEach(() => world.remove());

  const nameOf = (n: number): string => `20261120T080000000Z-${n.toString(16).padStart(12, '0')}.push.json`;
  const lay = (name: string): void => writeFileSync(join(world.deps.outbox, name), '');

  it('is looked through in one go: what is not known, oldest first, and what is to be retried, once', () => {
    [nameOf(3), nameOf(1), nameOf(2), 'README', '.x.json.0123456789ab.tmp'].forEach(lay);
    askRetry(world.deps, 'some-id');
    const known = new Set([nameOf(1)]);
    expect(look(world.deps, (name) => known.has(name))).to.deep.equal({
      unknown: [nameOf(2), nameOf(3)],
      retries: ['some-id'],
      tooMany: [],
    });
    expect(look(world.deps, (name) => known.has(name)).retries).to.deep.equal([]);
    expect(readdirSync(world.deps.outbox)).to.include('README');
  });

  it('names the oldest beyond its bound, known or not', () => {
    for (let n = 0; n < MAX_WAITING + 2; n += 1) lay(nameOf(n));
    for (const isKnown of [true, false]) {
      expect(look(world.deps, () => isKnown).tooMany).to.deep.equal([nameOf(0), nameOf(1)]);
    }
  }).timeout(120_000);
});
