import { expect } from 'chai';
import fc from 'fast-check';

import { createHeap } from '../../../../src/lib/platform/files/heap';

describe('platform: a heap', () => {
  it('gives the least of what is in it, whatever was added and taken before', () => {
    const step = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constant('take' as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = createHeap<number>((a, b) => a < b);
        const model: number[] = [];
        for (const one of steps) {
          if (one === 'take') expect(heap.take()).to.equal(model.shift());
          else {
            heap.add(one);
            model.push(one);
            model.sort((a, b) => a - b);
          }
          expect(heap.first()).to.equal(model[0]);
        }
        expect(heap.takeAll().sort((a, b) => a - b)).to.deep.equal(model);
        expect([heap.first(), heap.take(), heap.takeAll()]).to.deep.equal([undefined, undefined, []]);
      }),
    );
  });

  it('compares some twenty times for each of ten thousand', () => {
    let compared = 0;
    const heap = createHeap<number>((a, b) => {
      compared += 1;
      return a < b;
    });
    for (let n = 0; n < 10_000; n += 1) heap.add((n * 7919) % 10_007);
    for (let n = 0; n < 10_000; n += 1) heap.take();
    expect(compared).to.be.lessThan(10_000 * 40);
  });
});
