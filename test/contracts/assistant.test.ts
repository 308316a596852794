import { expect } from 'chai';

import { ASSISTANTS } from '../../src/lib/assistant';
import { planHook, type HookCall } from '../../src/lib/assistant/hook';
import type { HookDeps } from '../../src/lib/assistant/hook-event';
import { ASSISTANT_IDS } from '../../src/lib/sessions/session-key';
import { testArea } from '../helpers/area';
import { assistantContract } from './assistant';
import { PAYLOADS } from './assistant-payloads';

describe('the assistants', () => {
  it('have an adapter each', () => {
    expect(ASSISTANTS.map(({ id }) => id)).to.deep.equal([...ASSISTANT_IDS]);
  });

  it('are distinguished by what they send, not by the file that it came through', () => {
    const at = testArea();
    try {
      const deps = { ...at.deps, ...paths(at.area), env: {}, tab: false, tellAssistant: false } as HookDeps;
      const payload = PAYLOADS.cursor.find(({ event }) => event === 'preToolUse')?.payload;
      const call: HookCall = { verb: 'tool', bytes: Buffer.from(JSON.stringify(payload)), cut: false };
      expect(planHook(deps, call).event).to.include({ assistant: 'cursor', type: 'tool-before' });
      expect(() => planHook(deps, { ...call, assistant: 'nobody' })).to.throw('Unknown assistant "nobody".');
    } finally {
      at.remove();
    }
  });

  for (const assistant of ASSISTANTS) assistantContract(assistant);
});

function paths(area: ReturnType<typeof testArea>['area']) {
  return { area, dayOf: () => '2026-11-20' };
}
