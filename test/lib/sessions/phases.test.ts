import { expect } from 'chai';

import { phase, phaseNamed, PHASES, tabTitle } from '../../../src/lib/sessions/phases';

describe('the phase table', () => {
  it('has each phase once, by any of its spellings', () => {
    const names = PHASES.flatMap(({ id, retired }) => [id, ...retired]);
    expect(new Set(names).size).to.equal(names.length);
    expect(PHASES.map(({ id }) => id)).to.have.members(
      'starting observe think plan build execute verify learn complete native'.split(' '),
    );
  });

  it('reads retired spellings and upper case', () => {
    expect(phaseNamed('OBSERVE')?.id).to.equal('observe');
    expect(phaseNamed(' Scoping ')?.id).to.equal('think');
    expect(phaseNamed('climbing')?.id).to.equal('execute');
    expect(phaseNamed('toString')).to.equal(undefined);
    expect(phaseNamed('')).to.equal(undefined);
  });

  it('maps phases to Status labels and says which are synced', () => {
    const status = Object.fromEntries(PHASES.map(({ id, status: label }) => [id, label]));
    expect(status).to.include({
      execute: 'in-progress',
      verify: 'in-review',
      learn: 'in-review',
      complete: 'done',
    });
    expect(status).to.include({ native: 'queued', build: 'queued', starting: 'queued' });
    expect(PHASES.filter(({ synced }) => synced).map(({ id }) => id)).to.deep.equal([
      'execute',
      'verify',
      'learn',
      'complete',
    ]);
  });

  it('gives titles without a control', () => {
    for (const { id } of PHASES) expect(tabTitle(id)).to.match(/^\S \w+$/u);
    expect(phase('learn').label).to.equal('Learn');
  });
});
