import { expect } from 'chai';
import type { Page, Worker } from 'playwright-core';

import { readPairing } from '../../src/lib/sense/web-pairing';
import { until } from '../helpers/daemon';
import { playInChromium } from '../helpers/extension-play';
import { otherExtension } from '../helpers/web-extension';

interface Knock {
  url: string;
  init: RequestInit;
}

describe('knocking on the route of the browser extension (real Chromium)', function () {
  this.timeout(120_000);
  const play = playInChromium((folder) => [otherExtension(folder)]);

  it('is refused for pages and other extensions, with the code and with what was recorded', async () => {
    const { daemon, context, page, tick, seen, visitPage } = play;
    await visitPage('www.granted.test');
    await seen('granted.test');
    await tick(1, 'granted.test');
    const known = play.told();
    expect(known).to.deep.equal([['granted.test', 0, 1]]);
    const token = readPairing(play.box.area)?.token ?? '';
    const recorded = daemon.requests.find((text) => text.startsWith('{')) ?? '';
    const later = JSON.stringify({ ...(JSON.parse(recorded) as object), site: null });
    const url = `http://127.0.0.1:${play.port}/api/sense/web`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const knocks = [recorded, later].flatMap((body): Knock[] => [
      { url, init: { method: 'POST', mode: 'cors', headers, body } },
      { url, init: { method: 'POST', mode: 'no-cors', body } },
    ]);
    const find = (): Worker | undefined =>
      context.serviceWorkers().find((one) => one.url().endsWith('/other.js'));
    await until('the other extension runs', () => find() !== undefined);
    const sent: (number | null)[] = [];
    for (const knock of knocks)
      for (const from of [page, find()])
        sent.push(
          (await (from as Page | undefined)?.evaluate(
            ({ url: to, init }) =>
              fetch(to, init).then(
                ({ status }) => status,
                () => null,
              ),
            knock,
          )) ?? null,
        );
    // Null: the browser refused to send it, or to show the answer.
    expect([...new Set(sent)]).to.have.members([null, 403]);
    expect([sent[1], sent[5]], 'the other extension, with the code').to.deep.equal([403, 403]);
    const plain = await fetch(url, { method: 'POST', headers, body: later });
    expect(plain.status).to.equal(403);
    expect(play.told()).to.deep.equal(known);
  });
});
