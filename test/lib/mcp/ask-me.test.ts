import { expect } from 'chai';
import { getEventListeners } from 'node:events';

import { createContext, type Context } from '../../../src/lib/app/context';
import { loadConfig } from '../../../src/lib/config/load';
import { askMeNow } from '../../../src/lib/mcp/ask-me';
import { testArea } from '../../helpers/area';
import { recordedDesktop } from '../../helpers/fake-desktop';

describe('a question of ask_me', () => {
  it('listens once for the end of the call, however often it looks for an answer', async () => {
    const area = testArea();
    let looks = 0;
    const monotonic = (): number => {
      looks += 1;
      return performance.now();
    };
    const context = {
      ...createContext(process.cwd()),
      ...area.deps,
      clock: { ...area.deps.clock, monotonic },
      desktop: recordedDesktop('linux', {}),
      loadConfig: () => loadConfig({ area: area.area, env: {}, home: area.home }),
    } as Context;
    const call = new AbortController();
    const answer = askMeNow(context, { question: 'Which one?' }, { signal: call.signal });
    const before = looks;
    while (looks < before + 4) await new Promise(setImmediate);
    expect(getEventListeners(call.signal, 'abort').length).to.be.at.most(1);
    call.abort();
    expect(await answer).to.have.property('waiting', true);
    area.remove();
  });
});
