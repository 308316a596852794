import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';

import { spdEngine } from '../../../../../src/lib/notify/speech/engines/system';
import type { SpeechMachine } from '../../../../../src/lib/notify/speech/engines/engine';
import { LIMITS } from '../../../../../src/lib/notify/speech/queue';
import { rejection } from '../../../../helpers/errors';
import { scratch } from '../../../../helpers/scratch';
import { alone, machineWith, orderOf, script } from '../../../../helpers/speech';

describe("notify/speech: the system's engines", () => {
  const box = scratch();

  it('send speech-dispatcher short lines without commands', async () => {
    let input = '';
    const machine: SpeechMachine = {
      platform: 'linux',
      find: (name) => `/usr/bin/${name}`,
      takeTurn: alone,
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

  it('send a text to speech-dispatcher only after it has spoken a space', async function () {
    if (process.platform === 'win32') this.skip();
    const heard = box.path('heard');
    const machine = (onSpace: string): SpeechMachine =>
      machineWith({
        'spd-say': script(
          box.path('spd-say'),
          `case "$1" in --list*) ;; --wait) ${onSpace};; *) cat >>'${heard}';; esac`,
        ),
      });
    const engine = spdEngine();
    const speak = (text: string, onSpace: string): Promise<void> =>
      engine.speak(machine(onSpace), orderOf(text));
    const error = await rejection(speak('lost', 'exec sleep 60'));
    expect(error).to.include({
      kind: 'unavailable',
      message: 'speech-dispatcher is not working.',
    });
    expect(existsSync(heard)).to.equal(false);
    await speak('Hi', 'exit 0');
    // After a success it is not tested first.
    await speak('again', 'exit 9');
    expect(readFileSync(heard, 'utf8')).to.equal('Hi\nagain\n');
    const broken = machineWith({ 'spd-say': script(box.path('broken'), 'exit 1') });
    await rejection(engine.speak(broken, orderOf('lost')));
    expect((await rejection(speak('lost', 'exit 9'))).message).to.match(/code 9/);
  }).timeout(60_000);

  it('recognize a silent speech-dispatcher quickly enough not to skip it for long', async () => {
    const bounds: number[] = [];
    const machine: SpeechMachine = {
      platform: 'linux',
      find: (name) => `/usr/bin/${name}`,
      takeTurn: alone,
      run: (_file, args, { timeoutMs }) => {
        const timedOut = args.includes(' ');
        if (timedOut) bounds.push(timeoutMs);
        return Promise.resolve({ code: 0, signal: null, stdout: '', stderr: '', truncated: false, timedOut });
      },
    };
    await rejection(spdEngine().speak(machine, orderOf('Hi')));
    expect(bounds).to.have.length(1);
    expect(bounds[0]).to.be.lessThan(LIMITS.slowMs);
  });
});
