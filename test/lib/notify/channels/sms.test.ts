import { expect } from 'chai';

import { smsChannel } from '../../../../src/lib/notify/channels/sms';
import { parcel } from '../../../helpers/notify';

describe("notify: the principal's own tool for short messages", () => {
  const send = async (command: readonly string[], message: string): Promise<unknown[]> => {
    const asked: unknown[] = [];
    const channel = smsChannel({
      smsCommand: () => command,
      run: (file, args, { input }) => {
        asked.push(file, args, input);
        const result = { code: 0, signal: null, stdout: '', stderr: '', truncated: false, timedOut: false };
        return Promise.resolve(result);
      },
    });
    expect(await channel.send(parcel({ message }), () => undefined)).to.deep.equal({ outcome: 'delivered' });
    return asked;
  };

  it('passes the text at its placeholder, never as an option, or to stdin', async () => {
    expect(await send(['sms', '{message}'], '-rf')).to.deep.equal(['sms', [' -rf'], '']);
    expect(await send(['sms', '--text={message}'], '-rf')).to.deep.equal(['sms', ['--text=-rf'], '']);
    expect(await send(['sms', '--to', 'me'], 'a $& b')).to.deep.equal(['sms', ['--to', 'me'], 'a $& b\n']);
  });

  it('shortens the text without splitting characters', async () => {
    const [, [text] = []] = (await send(['sms', '{message}'], '😀'.repeat(999))) as [string, string[]];
    expect([...(text ?? '')]).to.have.length(320);
    expect(text).to.match(/^(?:😀)+…$/u);
  });
});
