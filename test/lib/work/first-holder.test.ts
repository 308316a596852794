import { expect } from 'chai';

import { firstHolder } from '../../../src/lib/work/claim';
import type { LabelEvent } from '../../../src/lib/work/host/github-read';

const BEGAN = 'Status:in-progress';
const [KAI, BO, CY] = ['Agent:Kai', 'Agent:bo', 'Agent:cy'];
const BOTH = [KAI, BO];

/** Events in the order in which GitHub numbers them, each with its label, its second, and whether the label was taken off. */
const events = (...list: [label: string, second: number, off?: 'off'][]): LabelEvent[] =>
  list.map(([label, second, off], index) => ({
    event: off === undefined ? 'labeled' : 'unlabeled',
    label,
    id: index + 1,
    at: `2026-11-20T09:00:${String(second).padStart(2, '0')}Z`,
  }));

describe('the holder of an issue in progress', () => {
  const cases: [what: string, labels: string[], LabelEvent[], holder: string | null][] = [
    ['is nobody without an Agent label', [BEGAN], events([BEGAN, 1], [KAI, 1]), null],
    ['is the only agent, in lower case', [BEGAN, KAI], [], 'kai'],
    ['is who came first after work began', BOTH, events([BEGAN, 1], [BO, 5], [KAI, 6]), 'bo'],
    ['is not who was there before', BOTH, events([BO, 1], [BEGAN, 5], [KAI, 6]), 'kai'],
    ['is who came within the second before', BOTH, events([BO, 4], [BEGAN, 5], [KAI, 6]), 'bo'],
    ['is not who came two seconds before', BOTH, events([BO, 3], [BEGAN, 5], [KAI, 5]), 'kai'],
    ['is who came last of one label', BOTH, events([BEGAN, 1], [BO, 2], [KAI, 3], [BO, 3, 'off'], [BO, 4]), 'kai'],
    ['counts from the last time that work began', BOTH, events([BEGAN, 1], [BO, 2], [BEGAN, 9], [KAI, 9]), 'kai'],
    ['is the oldest if all came before', BOTH, events([BO, 1], [KAI, 2], [BEGAN, 9]), 'bo'],
    ['is the oldest if work never began', BOTH, events([BO, 1], [KAI, 2], [BEGAN, 3, 'off']), 'bo'],
    ['is not one that came with the issue', [KAI, CY], events([BEGAN, 0], [CY, 9]), 'cy'],
    ['ignores other labels', BOTH, events([BEGAN, 1], [KAI, 2], ['Status:ready', 9], [BO, 9]), 'kai'],
  ];
  for (const [what, labels, list, holder] of cases)
    it(what, () => {
      expect(firstHolder(labels, list)).to.equal(holder);
      expect(firstHolder(labels.toReversed(), list)).to.equal(holder);
    });
}); // prettier-ignore
