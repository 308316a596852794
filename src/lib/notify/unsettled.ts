import type { Outcome } from './channels/channel';
import { nameOf, type Delivery } from './delivery';
import { readClaimed, release } from './outbox';
import { recoverOne, settle, type SettleDeps } from './settle';

/**
 * What this process has claimed and not yet written down the end of. Where a fault of the machine's own (a full disk)
 * comes in between, it knows better than anybody who finds the claimed file what came of it.
 */
export interface Unsettled {
  claimed: (delivery: Delivery) => void;
  /** What came of the attempt: from now on it is not made a second time. */
  sent: (delivery: Delivery, outcome: Outcome) => void;
  settled: (delivery: Delivery) => void;
  /** Writes down what is left of those that nobody is at. What cannot be written is left for the next time, and throws. */
  settleLeft: (isBusy: (delivery: Delivery) => boolean) => void;
}

export function createUnsettled(deps: SettleDeps): Unsettled {
  const left = new Map<string, { delivery: Delivery; outcome?: Outcome }>();
  return {
    claimed: (delivery) => void left.set(nameOf(delivery), { delivery }),
    sent: (delivery, outcome) => void left.set(nameOf(delivery), { delivery, outcome }),
    settled: (delivery) => void left.delete(nameOf(delivery)),
    settleLeft(isBusy) {
      for (const [name, { delivery, outcome }] of left) {
        if (isBusy(delivery)) continue;
        const recorded = readClaimed(deps, name);
        // Without an outcome it was not sent. What has gone from there has gone on, but for its line in the log.
        if (recorded !== undefined && outcome !== undefined) settle(deps, delivery, outcome);
        else if (recorded?.result !== undefined) recoverOne(deps, name, recorded);
        else if (recorded !== undefined) release(deps, name, delivery);
        left.delete(name);
      }
    },
  };
}
