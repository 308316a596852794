import fc from 'fast-check';
import { expect } from 'chai';

import { StewardError } from '../../../../src/lib/errors';
import { toplevelDialogue } from '../../../../src/lib/sense/front-app/wlroots';

const MANAGER = 'zwlr_foreign_toplevel_manager_v1';
const FIRST = 0xff000000;

const uint = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);

function text(value: string): Buffer {
  const bytes = Buffer.from(`${value}\0`);
  return Buffer.concat([uint(bytes.length), bytes, Buffer.alloc(-bytes.length & 3)]);
}

function event(object: number, opcode: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([uint(object, ((8 + body.length) << 16) | opcode), body]);
}

/** What a compositor sends in one conversation. */
const GLOBALS = Buffer.concat([
  event(2, 0, uint(1), text('wl_compositor'), uint(5)),
  event(2, 0, uint(9), text(MANAGER), uint(3)),
  event(3, 0, uint(0)),
]);
const WINDOWS = Buffer.concat([
  event(4, 0, uint(FIRST)),
  event(FIRST, 0, text('a secret title')),
  event(FIRST, 1, text('qtest-one')),
  event(FIRST, 4, uint(0)),
  event(FIRST, 5),
  event(4, 0, uint(FIRST + 1)),
  event(FIRST + 1, 1, text('qtest-two')),
  event(FIRST + 1, 4, uint(8, 0, 2)),
  event(4, 0, uint(FIRST + 2)),
  event(FIRST + 2, 1, text('closed')),
  event(FIRST + 2, 4, uint(4, 2)),
  event(FIRST + 2, 6),
]);
const DONE = event(5, 0, uint(0));

function listener(): { sent: Buffer[]; listen: ReturnType<typeof toplevelDialogue> } {
  const sent: Buffer[] = [];
  return { sent, listen: toplevelDialogue((bytes) => sent.push(Buffer.from(bytes))) };
}

describe('sense/front-app/wlr-toplevels', () => {
  const expected = [
    { appId: 'qtest-one', activated: false },
    { appId: 'qtest-two', activated: true },
  ];

  it('asks for the globals, binds the manager and keeps app ids and states', () => {
    const { sent, listen } = listener();
    expect(Buffer.concat(sent).toString('hex')).to.equal(
      Buffer.concat([event(1, 1, uint(2)), event(1, 0, uint(3))]).toString('hex'),
    );
    sent.length = 0;
    expect(listen(GLOBALS)).to.equal(undefined);
    expect(Buffer.concat(sent).toString('hex')).to.equal(
      Buffer.concat([event(2, 0, uint(9), text(MANAGER), uint(3), uint(4)), event(1, 0, uint(5))]).toString(
        'hex',
      ),
    );
    expect(listen(WINDOWS)).to.equal(undefined);
    expect(listen(DONE)).to.deep.equal(expected);
  });

  it('binds version 3 at most', () => {
    const { sent, listen } = listener();
    listen(Buffer.concat([event(2, 0, uint(9), text(MANAGER), uint(7)), event(3, 0, uint(0))]));
    expect(Buffer.concat(sent).includes(Buffer.concat([text(MANAGER), uint(3), uint(4)]))).to.equal(true);
  });

  it('reports a compositor without the protocol', () => {
    expect(listener().listen(event(3, 0, uint(0)))).to.equal('unsupported');
  });

  it('returns the same for any split of the bytes', () => {
    const all = Buffer.concat([GLOBALS, WINDOWS, DONE]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (cuts) => {
        const { listen } = listener();
        let value: ReturnType<typeof listen>;
        for (let at = 0, turn = 0; at < all.length && value === undefined; turn += 1) {
          const end = at + (cuts[turn % cuts.length] ?? 1);
          value = listen(all.subarray(at, end));
          at = end;
        }
        expect(value).to.deep.equal(expected);
      }),
    );
  });

  it('returns, waits or throws a StewardError for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        try {
          listener().listen(Buffer.concat([GLOBALS, Buffer.from(bytes)]));
        } catch (error) {
          expect(error).to.satisfy((e: unknown) => e instanceof StewardError || e instanceof RangeError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
