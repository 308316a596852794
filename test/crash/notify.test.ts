import { expect } from 'chai';

import { bundleChild, type Bundle } from '../helpers/bundle';
import { campaign, killsOr } from '../helpers/random';
import { killNotifying } from '../helpers/notify-kill';
import { scratch } from '../helpers/scratch';

const KILLS = killsOr(24);

describe('crash: notifications', function () {
  this.timeout(240_000 + KILLS * 2000);
  let bundle: Bundle;
  const folder = scratch();
  before(() => {
    bundle = bundleChild('notify-loop');
  });
  after(() => bundle.remove());

  it(`loses nothing, and reports every possible duplicate, killed ${KILLS} times`, async () => {
    const { sent, twice, unknown } = await killNotifying(
      bundle.path,
      folder.path(),
      KILLS,
      campaign('notify'),
    );
    console.log(`      ${sent} sent, ${twice} of them twice, ${unknown} not known`);
    expect(sent).to.be.at.least(KILLS);
  });
});
