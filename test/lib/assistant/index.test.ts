import { expect } from 'chai';

import { assistantsIn, titleAmong } from '../../../src/lib/assistant';

describe('the assistants', () => {
  it('are named in a notification only if sessions of several run', () => {
    const [claude, codex, unknown] = [{}, { assistant: 'codex' }, { assistant: 'later-one' }];
    expect(titleAmong(codex, [codex, codex])).to.equal(undefined);
    expect(titleAmong(claude, [{ assistant: 'claude-code' }])).to.equal(undefined);
    expect(titleAmong(claude, [claude, codex])).to.equal('Claude Code');
    expect(titleAmong(codex, [claude, codex])).to.equal('Codex CLI');
    // The session has ended, and another still runs.
    expect(titleAmong(codex, [claude])).to.equal('Codex CLI');
    expect(titleAmong(codex, [])).to.equal(undefined);
    expect(titleAmong(unknown, [claude])).to.equal(undefined);
  });

  it('can be listed, once each and with spaces', () => {
    expect(assistantsIn('codex, qwen,codex').map(({ id }) => id)).to.deep.equal(['codex', 'qwen']);
    expect(assistantsIn('codex,all')).to.have.length(6);
    expect(() => assistantsIn('')).to.throw('Unknown assistant "".');
  });
});
