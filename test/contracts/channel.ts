import { expect } from 'chai';

import type { Channel } from '../../src/lib/notify/channels/channel';
import { parcel } from '../helpers/notify';

/** A channel as it is to be tested: set up, not set up, and with nothing behind it that works. */
export interface ChannelSituation {
  /** What it talks to takes everything. */
  alive: Channel;
  /** Nothing of what it talks to answers as it should. */
  dead: Channel;
  /** Undefined for a channel that is always there. */
  off: Channel | undefined;
}

/** Texts that a careless channel would hand to a shell, an option parser, a markup parser or a template. */
export const HOSTILE = [
  '-rf --help',
  '--hint=string:a:b',
  '$(touch /tmp/owned) `id` %s %n',
  '"; rm -rf ~; echo "',
  "'; DROP TABLE x; --",
  '<b>bold</b> &amp; <img src=x onerror=alert(1)>',
  '<!channel> @everyone <@U123> @here',
  '{message} ${HOME} %PATH%',
  'ünïcödé 日本語 😀\nsecond line',
  '\\',
  'C:\\new\\table \\x41 \\101',
] as const;

/** What every channel keeps, whatever it talks to. */
export function channelContract(
  name: string,
  situation: () => Promise<ChannelSituation> | ChannelSituation,
): void {
  describe(`channel ${name}`, () => {
    let at: ChannelSituation;
    beforeEach(async () => {
      at = await situation();
    });

    it('has its id', () => {
      expect(at.alive.id).to.equal(name);
    });

    it('is on when it is set up', () => {
      expect([at.alive.off(), at.alive.off()]).to.deep.equal([undefined, undefined]);
    });

    it('explains why it is off', () => {
      if (at.off === undefined) return;
      const off = at.off.off();
      expect(off?.reason).to.match(/^[a-z].*[^.]$/);
      expect(off?.hint).to.match(/^[A-Z].+\.$/s);
    });

    it('delivers every text, including hostile ones', async () => {
      await at.alive.prepare?.();
      for (const message of HOSTILE) {
        const outcome = await at.alive.send(
          parcel({ message, title: message, dedupe: message, tags: ['x'] }),
          () => undefined,
        );
        expect(outcome, message).to.deep.equal({ outcome: 'delivered' });
      }
    }).timeout(60_000);

    it('explains a failure and never throws', async () => {
      await at.dead.prepare?.();
      const outcome = await at.dead.send(parcel(), () => undefined);
      expect(outcome.outcome).to.be.oneOf(['again', 'failed', 'show', 'skipped']);
      if (outcome.outcome === 'again' || outcome.outcome === 'failed') {
        expect(outcome.reason).to.match(/^[A-Z0-9a-z].+\.$/s);
        expect(outcome.hint).to.match(/^[A-Z].+\.$/s);
      }
    }).timeout(60_000);
  });
}
