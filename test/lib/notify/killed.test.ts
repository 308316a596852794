import { expect } from 'chai';

import { bundleChild, type Bundle } from '../../helpers/bundle';
import { killNotifying } from '../../helpers/notify-kill';
import { scratch } from '../../helpers/scratch';

describe('notify: under SIGKILL', () => {
  let bundle: Bundle;
  const folder = scratch();
  before(() => {
    bundle = bundleChild('notify-loop');
  });
  after(() => bundle.remove());

  it('loses nothing, and sends nothing twice without saying so', async () => {
    const { sent, twice, unknown } = await killNotifying(bundle.path, folder.path(), 60);
    console.log(`      ${sent} sent, ${twice} of them twice, ${unknown} not known`);
    expect(sent).to.be.at.least(60);
  }).timeout(240_000);
});
