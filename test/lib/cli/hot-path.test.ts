import { expect } from 'chai';

import { HOT, runHot, type HotEntry } from '../../../src/lib/cli/hot-path';
import { COMMANDS } from '../../../src/command-table';

describe('hot path', () => {
  const calls: string[][] = [];
  const entry = (words: string[], code: number | undefined): HotEntry => ({
    words,
    load: () =>
      Promise.resolve({
        run: (argv) => {
          calls.push([...argv]);
          return code;
        },
      }),
  });

  beforeEach(() => {
    calls.length = 0;
  });

  it('answers by the first words and hands on the rest', async () => {
    const table = [entry(['hook'], 0), entry(['notify', 'send'], 8)];
    expect(await runHot(['hook', 'prompt', '--x'], table)).to.equal(0);
    expect(await runHot(['notify', 'send', 'hi'], table)).to.equal(8);
    expect(calls).to.deep.equal([['prompt', '--x'], ['hi']]);
  });

  it('leaves the rest to oclif without loading anything', async () => {
    expect(await runHot(['notify', 'test'], [entry(['notify', 'send'], 0)])).to.equal(undefined);
    expect(await runHot([], [entry(['hook'], 0)])).to.equal(undefined);
    expect(await runHot(['--json', 'hook'], [entry(['hook'], 0)])).to.equal(undefined);
    expect(calls).to.deep.equal([]);
  });

  it('leaves a call to oclif that the hot command declines', async () => {
    expect(await runHot(['sense', 'version', '--help'])).to.equal(undefined);
    expect(await runHot(['sense', 'version', '--json', 'x'])).to.equal(undefined);
  });

  it('has a full command behind each entry but --version', () => {
    for (const { words } of HOT) {
      if (words[0] !== '--version') expect(Object.keys(COMMANDS)).to.include(words.join(':'));
    }
  });
});
