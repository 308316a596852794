import { expect } from 'chai';

import { hotCall, runHot, type HotBundle, type HotCommand } from '../../../src/hot';
import * as hook from '../../../src/lib/cli/hook-command';
import * as overview from '../../../src/lib/cli/overview-hot';
import * as send from '../../../src/lib/cli/notify-send-hot';
import * as statusline from '../../../src/lib/cli/statusline';

const COMMANDS: Readonly<Record<HotBundle, HotCommand>> = {
  hook,
  statusline,
  'notify-send': send,
  overview,
};

describe('hot path', () => {
  it('leaves to oclif what is not hot', () => {
    for (const words of ['notify test', '--json notify send', 'send', 'sessions'])
      expect(hotCall(words.split(' ').filter((word) => word !== '')), words).to.equal(undefined);
  });

  it('leaves hot commands with unusual words to oclif, as they are', async () => {
    for (const words of [
      'hook stop --help',
      'statusline --frob',
      'notify send',
      'status --json',
      'inbox --why',
      'inbox done 3',
      '',
    ]) {
      const argv = words.split(' ').filter((word) => word !== '');
      const call = hotCall(argv);
      if (call === undefined) throw new Error(`${words} is not hot.`);
      expect(await runHot(call, COMMANDS[call.bundle], '.')).to.deep.equal(argv);
    }
  });
});
