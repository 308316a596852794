import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';

import { announceRequest, type AnnounceDeps } from '../../../src/lib/notify/announce';
import { parseRequest } from '../../../src/lib/notify/message';
import { notifyWorld } from '../../helpers/notify';
import { scratch } from '../../helpers/scratch';

describe('an announcement that is sent', () => {
  const box = scratch();
  const announced = async (voiceId: string | undefined, flags: object): Promise<object[]> => {
    const world = notifyWorld();
    const posted: object[] = [];
    const notify: AnnounceDeps = {
      voiceId,
      skills: box.path(),
      // A daemon that takes what the real one takes.
      send: (body) => {
        const { message, title, voiceId: voice } = parseRequest(body);
        posted.push({ message, title, voice });
        return Promise.resolve({ status: 'accepted', id: '20261120T090000000Z-0123456789ab' });
      },
    };
    await announceRequest(notify, { request: 'write the newsletter', kind: 'task', send: true, ...flags });
    world.remove();
    return posted;
  };

  it("carries message, title and the assistant's voice", async () => {
    mkdirSync(box.path('Writing', 'workflows'), { recursive: true });
    writeFileSync(box.path('Writing', 'workflows', 'Newsletter.md'), '');
    expect(await announced('da-voice', { skill: 'Writing', workflow: 'Newsletter' })).to.deep.equal([
      {
        message: 'Executing the Newsletter workflow within the Writing skill',
        title: 'Newsletter workflow',
        voice: 'da-voice',
      },
    ]);
    expect(await announced(undefined, {})).to.deep.equal([
      { message: 'Creating newsletter', title: 'Task started', voice: undefined },
    ]);
  });

  it('skips conversations, of what is done directly, and where it is not asked for', async () => {
    expect(await announced('da-voice', { request: 'thanks!' })).to.deep.equal([]);
    expect(await announced('da-voice', { kind: 'utility' })).to.deep.equal([]);
    expect(await announced('da-voice', { send: false })).to.deep.equal([]);
  });
});
