import { expect } from 'chai';

import { spdEngine } from '../../../../../src/lib/notify/speech/engines/system';
import type { SpeechMachine } from '../../../../../src/lib/notify/speech/engines';

describe("notify/speech: the system's engines", () => {
  it('give speech-dispatcher lines that it takes whole, and no command', async () => {
    let input = '';
    const machine: SpeechMachine = {
      platform: 'linux',
      find: (name) => `/usr/bin/${name}`,
      run: (_file, _args, options) => {
        input = String(options.input);
        const result = { code: 0, signal: null, stdout: '', stderr: '', truncated: false, timedOut: false };
        return Promise.resolve(result);
      },
    };
    const text = `!-! SET self LANGUAGE de !-!-! [[x]] ${'word '.repeat(200)}${'x'.repeat(500)}`;
    const order = { text, remainingMs: () => 1000, signal: new AbortController().signal };
    await spdEngine().speak(machine, order);
    expect(input).to.not.match(/!-!|\[\[|\]\]/);
    for (const line of input.split('\n')) expect([...line].length).to.be.at.most(200);
    expect(input.replace(/\s/g, '')).to.equal(text.replace(/\s/g, ''));
  });
});
