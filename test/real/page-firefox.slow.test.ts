import { expect } from 'chai';

import { findProgram } from '../../src/lib/platform/process/spawn';
import { servePages, type Served } from '../helpers/browser';
import { until } from '../helpers/daemon';
import { fullBox, senseAnswers } from '../helpers/dashboard';
import { startFirefox, type Firefox } from '../helpers/marionette';
import { AXE } from '../helpers/pages';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import type { SenseBox } from '../helpers/sense';

describe('the pages in Firefox', function () {
  this.timeout(240_000);
  const folder = scratch();
  let firefox: Firefox | undefined;
  let full: SenseBox;
  let served: Served;

  afterEach(async () => {
    await firefox?.stop();
    await served?.close();
    full?.remove();
  });

  it('show the same rows, hold at three widths, and break no rule of axe on a phone', async function () {
    requirePrograms(this, { firefox: 'firefox-esr' });
    full = await fullBox();
    const answers = senseAnswers(full);
    served = await servePages(answers);
    const own = (firefox = await startFirefox(findProgram('firefox')!, folder.path('profile')));
    const script = async (text: string): Promise<unknown> => {
      const reply = (await own.send('WebDriver:ExecuteScript', { script: text, args: [] })) as {
        value: unknown;
      };
      return reply.value;
    };
    for (const width of [390, 768, 1440]) {
      await own.send('WebDriver:SetWindowRect', { width, height: 900 });
      for (const path of ['/', '/sense', '/sessions', '/work', '/status']) {
        await own.send('WebDriver:Navigate', { url: `${served.url}${path}` });
        await until(`${path} is drawn`, async () =>
          Boolean(await script("return document.querySelector('main:not(.loading)') !== null")),
        );
        const [wide, room] = (await script(
          'return [document.documentElement.scrollWidth, innerWidth]',
        )) as number[];
        expect(wide, `${path} at ${room}`).to.be.at.most(room!);
        if (width !== 390) continue;
        await script(AXE);
        const found = (await own.send('WebDriver:ExecuteAsyncScript', {
          script: 'axe.run().then(({ violations }) => arguments[0](violations.map(({ id }) => id)))',
          args: [],
        })) as { value: string[] };
        expect(found.value, `${path} at ${room}`).to.deep.equal([]);
      }
    }
    await own.send('WebDriver:Navigate', { url: served.url });
    await until(
      'the rows',
      async () => Number(await script("return document.querySelectorAll('#waiting li').length")) === 3,
    );
    expect(await script("return document.querySelectorAll('[role=slider]').length")).to.equal(3);
    expect(await script('return document.title')).to.equal('(3) Today · steward');
  });
});
