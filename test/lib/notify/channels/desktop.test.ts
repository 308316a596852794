import { expect } from 'chai';

import { desktopChannel } from '../../../../src/lib/notify/channels/desktop';
import type { Outcome, Parcel } from '../../../../src/lib/notify/channels/channel';
import type { RunOptions, RunResult } from '../../../../src/lib/platform/process/process';
import { noPushes, parcel } from '../../../helpers/notify';

interface Asked {
  file: string;
  args: readonly string[];
  input: RunOptions['input'];
}

/** What each system's program is asked for; that it does it is shown with a real one (test/real). */
describe('notify: banners of the desktop', () => {
  let asked: Asked[];
  beforeEach(() => {
    asked = [];
  });

  const send = (
    platform: NodeJS.Platform,
    more: Partial<Parcel> = {},
    answer: Partial<RunResult> = {},
  ): Promise<Outcome> => {
    const result = { code: 0, signal: null, stderr: '', truncated: false, timedOut: false };
    const channel = desktopChannel({
      platform,
      env: {},
      banners: '',
      pushes: noPushes(),
      run: (file, args, options) => {
        asked.push({ file, args, input: options.input });
        return Promise.resolve({ ...result, stdout: '{"shown":true}', ...answer });
      },
    });
    return channel.send(parcel(more), () => undefined);
  };
  const script = (): string => Buffer.from(asked[0]?.args.at(-1) ?? '', 'base64').toString('utf16le');
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

  it('passes the texts to osascript as arguments', async () => {
    await send('darwin', { title: '-e', message: '" & do shell script "id' });
    expect(asked[0]?.file).to.equal('/usr/bin/osascript');
    expect(asked[0]?.args).to.deep.equal(['-', '-e', '" & do shell script "id']);
    expect(asked[0]?.input).to.match(/^on run argv\n/);
  });

  it('passes the texts to PowerShell as base64, and silences a toast', async () => {
    const message = "'; Remove-Item ~; '";
    await send('win32', { title: 'Bäu', message, silent: true, dedupe: 'k' });
    expect(script()).to.include(base64(message)).and.include(base64('Bäu')).and.not.include('Remove-Item');
    expect(script()).to.include("SetAttribute('silent', 'true')").and.include("$o.Tag = 'steward-");
    asked = [];
    await send('win32');
    expect(script()).to.not.match(/SetAttribute|[.]Tag =/);
  });

  it('has a hint for each system', async () => {
    const hints = { linux: /dunst or mako/, darwin: /Script Editor/, win32: /Windows PowerShell/ } as const;
    for (const [platform, hint] of Object.entries(hints)) {
      const outcome = await send(platform as NodeJS.Platform, {}, { code: 1 });
      expect(outcome, platform).to.include({ outcome: 'again' }).and.property('hint').to.match(hint);
    }
  });
});
