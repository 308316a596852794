import { expect } from 'chai';

import { HOT, runHot, type HotEntry } from '../../../src/lib/cli/hot-path';
import { COMMANDS } from '../../../src/command-table';

describe('hot path', () => {
  const calls: string[][] = [];
  const entry = (words: string[], code: number | undefined | string[]): HotEntry => ({
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
    for (const argv of [['notify', 'test'], [], ['--json', 'notify', 'send']]) {
      expect(await runHot(argv, [entry(['notify', 'send'], 0)])).to.deep.equal(argv);
    }
    expect(calls).to.deep.equal([]);
  });

  it('leaves a call to oclif that the hot command declines', async () => {
    for (const argv of [
      ['sense', 'version', '--help'],
      ['sense', 'version', '--json', 'x'],
    ]) {
      expect(await runHot(argv)).to.deep.equal(argv);
    }
  });

  it('lets a hot command call the full one with other words', async () => {
    const table = [entry(['notify', 'send'], ['hi', '--unanswered', 'x'])];
    expect(await runHot(['notify', 'send', 'hi'], table)).to.deep.equal(['notify', 'send', 'hi', '--unanswered', 'x']); // prettier-ignore
  });

  it('has a full command behind each entry but those of the version', () => {
    const version = ['--version', '-v', '-V', 'version'];
    for (const { words } of HOT) {
      if (!version.includes(words.join(' '))) expect(Object.keys(COMMANDS)).to.include(words.join(':'));
    }
  });
});
