import { expect } from 'chai';

import { StewardError } from '../../src/lib/errors';
import type { FrontAppAdapter } from '../../src/lib/sense/front-app/adapter';
import { recordedDesktop, type Answers } from '../helpers/fake-desktop';

/** An environment in which an adapter detects its desktop, but nothing answers. */
export interface FrontAppSituation {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  answers?: Answers;
}

/** Tests what holds for every front-app adapter. */
export function frontAppContract(adapter: FrontAppAdapter, dead: FrontAppSituation): void {
  const desktop = recordedDesktop(dead.platform, dead.answers ?? {}, dead.env);

  describe(`front-app adapter ${adapter.id}`, () => {
    it('has a storable id', () => {
      expect(adapter.id).to.match(/^[a-z][a-z0-9]*$/);
    });

    it('detects its desktop by the environment, and starts nothing', () => {
      expect(adapter.detect(desktop)).to.equal(true);
      expect(adapter.detect(desktop)).to.equal(true);
      expect(desktop.asked).to.deep.equal([]);
    });

    it('detects nothing without a desktop, or on another system', () => {
      const bare = {
        ...desktop,
        platform: 'linux' as const,
        env: { HOME: '/nonexistent', PATH: '/usr/bin' },
      };
      expect(adapter.detect(bare)).to.equal(false);
      const others = (['linux', 'darwin', 'win32'] as const).filter((platform) => platform !== dead.platform);
      for (const platform of others)
        expect(adapter.detect({ ...desktop, platform }), platform).to.equal(false);
    });

    it('explains a desktop that does not answer, and what to do, in time', async function () {
      this.timeout(30_000);
      let error: unknown;
      await adapter.read(desktop).catch((caught: unknown) => (error = caught));
      expect(error).to.be.instanceOf(StewardError);
      const { kind, message, hint } = error as StewardError;
      expect(kind).to.be.oneOf(['unavailable', 'not_found']);
      expect(message).to.match(/^\S.+\.$/s);
      expect(hint, 'what to do').to.match(/^[A-Z].+\.$/s);
    });
  });
}
