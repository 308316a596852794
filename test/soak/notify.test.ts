import { bundleChild, type Bundle } from '../helpers/bundle';
import { killNotifying } from '../helpers/notify-kill';
import { scratch } from '../helpers/scratch';

const TIMES = Number(process.env['STEWARD_SOAK'] ?? '1');

describe('soak: notifications', () => {
  let bundle: Bundle;
  const folder = scratch();
  before(() => {
    bundle = bundleChild('notify-loop');
  });
  after(() => bundle.remove());

  it(`${500 * TIMES} kills lose nothing, and send nothing twice without saying so`, async () => {
    const { sent, twice, unknown } = await killNotifying(bundle.path, folder.path(), 500 * TIMES);
    console.log(`      ${sent} sent, ${twice} of them twice, ${unknown} not known`);
  });
});
