import { expect } from 'chai';
import fc from 'fast-check';

import { parseSessions, type SessionsState } from '../../../src/lib/sessions/session';
import { textNaming } from '../../../src/lib/sessions/state-lines';
import { openText, stateText } from '../../../src/lib/sessions/state-text';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');

interface Plan {
  name: string;
  hoursAgo: number;
  activity: 'ended' | 'working';
  task: string;
}

const PLANS = fc.uniqueArray(
  fc.record<Plan>({
    name: fc.stringMatching(/^s[a-z0-9]{1,8}$/),
    hoursAgo: fc.integer({ min: 0, max: 60 }),
    activity: fc.constantFrom('ended', 'working'),
    task: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', ',\n', '\n}}\n', 'ü"updatedAt":"')),
  }),
  { selector: ({ name }) => name, maxLength: 12 },
);

function stateOf(plans: readonly Plan[]): SessionsState {
  const sessions = Object.fromEntries(
    plans.map(({ name, hoursAgo, activity, task }) => {
      const at = new Date(NOW - hoursAgo * 3_600_000).toISOString();
      return [name, { slug: name, sessionIds: [`id-${name}`], task, startedAt: at, updatedAt: at, activity }];
    }),
  );
  const state = parseSessions(JSON.stringify({ version: 1, cursor: { offset: 7, head: 'x' }, sessions }));
  if (state === undefined) throw new Error('no state');
  return state;
}

const bytesOf = (parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);

function wake(bytes: Buffer, names: readonly string[]): { awake: SessionsState; bytes: Buffer } {
  const found = openText(bytes)?.wake(names, NOW);
  if (found === undefined) throw new Error('not opened');
  return { awake: found.state, bytes: bytesOf(stateText(found.state, found.asleep)) };
}

describe('the text of the sessions', () => {
  it('is JSON with every session in it, however often some were woken and laid to sleep again', () => {
    fc.assert(
      fc.property(PLANS, fc.array(fc.nat(20), { maxLength: 6 }), (plans, picks) => {
        const state = stateOf(plans);
        let bytes = bytesOf(stateText(state));
        for (const pick of picks) {
          const named = plans[pick % Math.max(1, plans.length)]?.name ?? 'nobody';
          const step = wake(bytes, [named, `id-${named}`]);
          for (const { name, hoursAgo, activity } of plans) {
            const isWanted = name === named || activity === 'working' || hoursAgo <= 24;
            if (isWanted) expect(Object.keys(step.awake.sessions)).to.include(name);
          }
          bytes = step.bytes;
          expect(parseSessions(bytes.toString('utf8'))?.sessions).to.deep.equal(state.sessions);
        }
      }),
    );
  });

  it('leaves what has long ended asleep, unless it is named', () => {
    const state = stateOf([
      { name: 'old', hoursAgo: 40, activity: 'ended', task: 'a' },
      { name: 'other', hoursAgo: 41, activity: 'ended', task: 'b' },
      { name: 'new', hoursAgo: 1, activity: 'ended', task: 'c' },
      { name: 'runs', hoursAgo: 50, activity: 'working', task: 'd' },
    ]);
    const first = wake(bytesOf(stateText(state)), []);
    expect(Object.keys(first.awake.sessions)).to.have.members(['new', 'runs']);
    // Now the two stand in the block.
    const again = openText(first.bytes)?.wake(['id-old'], NOW);
    expect(Object.keys(again?.state.sessions ?? {})).to.have.members(['old', 'new', 'runs']);
    expect(again?.asleep.has('other')).to.equal(true);
    expect(again?.asleep.has('old')).to.equal(false);
    expect(again?.asleep.has('othe')).to.equal(false);
    expect(again?.asleep.isEmpty).to.equal(false);
  });

  it('gives those with a name in their line alone', () => {
    fc.assert(
      fc.property(PLANS, (plans) => {
        const { bytes } = wake(bytesOf(stateText(stateOf(plans))), []);
        for (const { name } of plans) {
          const found = parseSessions(textNaming(bytes.toString(), `id-${name}`) ?? '');
          expect(Object.keys(found?.sessions ?? {})).to.deep.equal([name]);
        }
      }),
    );
  });

  it('is not opened in the form of another tool, nor with a block that ends within a line', () => {
    const bytes = wake(
      bytesOf(stateText(stateOf([{ name: 'old', hoursAgo: 40, activity: 'ended', task: 'a' }]))),
      [],
    ).bytes;
    expect(openText(bytes)).not.to.equal(undefined);
    const text = bytes.toString('utf8');
    expect(openText(Buffer.from(JSON.stringify(JSON.parse(text), null, 2)))).to.equal(undefined);
    expect(openText(Buffer.from(text.replace('"task":"a"', '"task":"changed by hand"')))).to.equal(undefined);
    expect(openText(Buffer.from(text.replace(/"asleep":\d+/, '"asleep":999999')))).to.equal(undefined);
  });
});
