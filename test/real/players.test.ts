import { expect } from 'chai';
import { writeFileSync } from 'node:fs';

import { SoundError } from '../../src/lib/notify/speech/engines/engine';
import { play } from '../../src/lib/notify/speech/engines/players';
import { rejection } from '../helpers/errors';
import { scratch } from '../helpers/scratch';
import { machineWith, orderOf, script } from '../helpers/speech';

describe('notify/speech: players', function () {
  this.timeout(60_000);
  const box = scratch();
  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  const failure = async (players: Record<string, string>): Promise<Error> => {
    const programs = Object.fromEntries(
      Object.entries(players).map(([name, lines]) => [name, script(box.path(name), lines)]),
    );
    writeFileSync(box.path('speech.wav'), 'RIFF');
    return rejection(play(machineWith(programs), orderOf('x'), box.path('speech.wav'), 'wav'));
  };
  const says = (text: string): string => `echo '${text}' >&2; exit 1`;

  const stopped: [program: string, words: string][] = [
    ['pw-play', 'error: pw_context_connect() failed: Host is down'],
    ['paplay', 'Connection failure: Connection refused'],
    ['aplay', 'aplay: main:831: audio open error: Connection refused'],
  ];
  for (const [program, words] of stopped) {
    it(`names the sound server that ${program} cannot reach`, async () => {
      const error = await failure({ [program]: says(words) });
      expect(error).to.be.instanceOf(SoundError);
      expect(error.message).to.equal(
        `The sound server is not running. ${program} failed with code 1: ${words}.`,
      );
    });
  }

  it('names the missing sound card once', async () => {
    const error = await failure({
      paplay: says('pa_context_connect() failed: Connection refused'),
      aplay: says('aplay: main:831: audio open error: No such file or directory'),
    });
    expect(error).to.be.instanceOf(SoundError);
    expect(error.message).to.equal('No sound card and no sound server found.');
  });

  it('reports the error of each player otherwise', async () => {
    const error = await failure({
      paplay: says('Failed to open audio file.'),
      aplay: says('No such device'),
    });
    expect(error).to.be.instanceOf(SoundError);
    expect(error.message).to.equal(
      'Could not play the audio. paplay failed with code 1: Failed to open audio file. aplay failed with code 1: No such device.',
    );
  });

  it('neither waits for a sound server that hangs nor tries another player', async () => {
    const error = await failure({ paplay: 'exec sleep 600', aplay: `: > '${box.path('asked')}'` });
    expect(error).to.be.instanceOf(SoundError);
    expect(error.message).to.equal('The sound server or sound card is not responding: paplay timed out.');
  });
});
