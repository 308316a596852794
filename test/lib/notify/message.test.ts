import { expect } from 'chai';
import fc from 'fast-check';

import { parseRequest } from '../../../src/lib/notify/message';
import { StewardError } from '../../../src/lib/errors';
import { thrown } from '../../helpers/errors';

describe('notify: a request body', () => {
  it('has defaults except for the message', () => {
    expect(parseRequest({ message: 'Done' })).to.deep.equal({
      message: 'Done',
      voiceEnabled: true,
      event: 'taskComplete',
      tags: [],
      source: 'da',
    });
  });

  it('may have every key', () => {
    const body = {
      message: 'Done',
      voice_id: 'v1',
      title: 'Build',
      voice_enabled: false,
      phase: 'execute',
      slug: 'fix-it',
      event: 'error',
      priority: 5,
      durationSec: 61.5,
      dedupe: 'build',
      url: 'https://example.org/x?y=1',
      tags: ['a', 'b', 'a'],
      source: 'job',
      unknown: { anything: true },
    };
    expect(parseRequest(body)).to.deep.equal({
      message: 'Done',
      voiceId: 'v1',
      title: 'Build',
      voiceEnabled: false,
      phase: 'execute',
      slug: 'fix-it',
      event: 'error',
      priority: 5,
      durationSec: 61.5,
      dedupe: 'build',
      url: 'https://example.org/x?y=1',
      tags: ['a', 'b'],
      source: 'job',
    });
  });

  const bad: [what: string, body: unknown, message: string][] = [
    ['no object', 'Done', 'The body is not a JSON object.'],
    ['a list', ['Done'], 'The body is not a JSON object.'],
    ['null', null, 'The body is not a JSON object.'],
    ['no message', {}, 'message is missing.'],
    ['an empty message', { message: ' \n\t ' }, 'message is empty.'],
    ['a message of controls', { message: '\u0000\u001b[31m\u009b' }, 'message is empty.'],
    ['a message of what has no width', { message: ' \u200b\u2060 ' }, 'message is empty.'],
    ['a number for a message', { message: 5 }, 'message is not a string.'],
    ['a message that is too long', { message: 'x'.repeat(4001) }, 'message has 4001 characters.'],
    ['a lone surrogate', { message: 'a\ud83db' }, 'message contains a lone surrogate.'],
    ['a lone surrogate in the title', { message: 'a', title: '\udc00' }, 'title contains a lone surrogate.'], // prettier-ignore
    ['an unknown event', { message: 'a', event: 'party' }, 'event is invalid.'],
    ['an event that objects inherit', { message: 'a', event: 'constructor' }, 'event is invalid.'],
    ['an event of another type', { message: 'a', event: 1 }, 'event is invalid.'],
    ['a voice_enabled of another type', { message: 'a', voice_enabled: 'no' }, 'voice_enabled is invalid.'],
    ['a voice_id with a space', { message: 'a', voice_id: 'a b' }, 'voice_id is invalid.'],
    ['a priority of 6', { message: 'a', priority: 6 }, 'priority is invalid.'],
    ['a priority of 1.5', { message: 'a', priority: 1.5 }, 'priority is invalid.'],
    ['a duration below 0', { message: 'a', durationSec: -1 }, 'durationSec is invalid.'],
    ['a dedupe with an escape', { message: 'a', dedupe: 'a\u001b[m' }, 'dedupe is invalid.'],
    ['a file as an address', { message: 'a', url: 'file:///etc/passwd' }, 'url is invalid.'],
    ['a script as an address', { message: 'a', url: 'javascript:alert(1)' }, 'url is invalid.'],
    ['an address with a line break', { message: 'a', url: 'https://a.b/\nc' }, 'url is invalid.'],
    ['tags of another type', { message: 'a', tags: 'x' }, 'tags is invalid.'],
    ['a tag with a comma', { message: 'a', tags: ['a,b'] }, 'tags is invalid.'],
    ['an unknown source', { message: 'a', source: 'me' }, 'source is invalid.'],
    ['a phase of another type', { message: 'a', phase: 3 }, 'phase is not a string.'],
    ['a slug of another type', { message: 'a', slug: {} }, 'slug is not a string.'],
    ['a title that is too long', { message: 'a', title: 'x'.repeat(251) }, 'title has 251 characters.'],
  ];
  for (const [what, body, message] of bad) {
    it(`rejects ${what}, and names the key`, () => {
      const error = thrown(() => parseRequest(body));
      expect(error).to.include({ kind: 'usage', message });
      expect(error.hint).to.match(/^[A-Z].+\.$/s);
    });
  }

  it('may have 4,000 characters, counted as code points', () => {
    expect(parseRequest({ message: '😀'.repeat(4000) }).message.length).to.equal(8000);
    expect(thrown(() => parseRequest({ message: '😀'.repeat(4001) })).message).to.include('4001');
  });

  it('keeps line breaks, and loses escape sequences and controls', () => {
    const { message, title } = parseRequest({
      message: 'one\r\ntwo\u001b]0;owned\u0007\nthree\u0000\u202e!',
      title: 'a\u001b[31mb\nc',
    });
    expect(message).to.equal('one\ntwo\nthree!');
    expect(title).to.equal('ab c');
  });

  it('is rejected or free of controls, whatever it contains', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(
            fc.constantFrom('\u001b', '[', 'm', '\ud800', '\udc00', '\u202e', '\n'),
            fc.string(),
          ),
        }),
        (text) => {
          try {
            const { message } = parseRequest({ message: text, title: text });
            expect(message.replaceAll('\n', '')).to.not.match(/[\p{Cc}\p{Surrogate}\u202e]/u);
          } catch (error) {
            expect(error).to.be.instanceOf(StewardError).with.property('kind', 'usage');
          }
        },
      ),
    );
    fc.assert(
      fc.property(fc.anything(), (body) => {
        try {
          parseRequest(body);
        } catch (error) {
          expect(error).to.be.instanceOf(StewardError).with.property('kind', 'usage');
        }
      }),
    );
  });
});
