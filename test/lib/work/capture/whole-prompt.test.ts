import { expect } from 'chai';
import fc from 'fast-check';

import { MAX_PROMPT, promptBody, wholePrompt } from '../../../../src/lib/work/capture/prompt';
import { makeBody, MAX_BODY, parseBody } from '../../../../src/lib/work/issue';
import { quickestMs } from '../../../helpers/measured';
import { long } from '../../../helpers/long';

describe('capturing the whole prompt', () => {
  it('keeps the lines without credentials and control characters', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----';
    expect(
      wholePrompt(`\n  fix it:\n\tthe token is abc123 \r\n${key}\nDB_PASSWORD=hunter2\u001b[31m red\u0007\n`),
    ).to.equal('fix it:\n    the token is [redacted]\n[redacted]\nDB_PASSWORD=[redacted] red');
  });

  it('removes credentials before truncating', () => {
    const secret = `ghp_${'a'.repeat(36)}`;
    for (let before = MAX_PROMPT - 60; before <= MAX_PROMPT; before += 7) {
      const kept = wholePrompt(`${'x '.repeat(before / 2)} ${secret} and more`);
      expect(kept).to.not.include('ghp_');
    }
  });

  it('limits the size, so that an intention fits into its file', () => {
    const odd = fc.constantFrom('\ud800', '\u{1f600}', '"', '\\', '\n', '\u0001', '漢', '`', 'a');
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 40 }), fc.integer({ min: 1, max: 4000 }), (chars, times) => {
        const kept = wholePrompt(chars.join('').repeat(times));
        expect(kept.length).to.be.at.most(MAX_PROMPT);
        expect(kept).to.not.match(/\p{Surrogate}/u);
      }),
      { numRuns: 60 },
    );
    const longest = wholePrompt('漢'.repeat(100_000));
    expect(Buffer.byteLength(JSON.stringify(longest))).to.be.below(60_000);
    expect(longest.endsWith('…')).to.equal(true);
  });

  long('handles a megabyte of near-credentials quickly', () => {
    for (const part of ['a-', 'a.', 'eyJ-', 'password ', 'x://', 'basic ', '-----BEGIN ', 'token:', 'a_']) {
      const text = part.repeat(1_000_000 / part.length);
      expect(
        quickestMs(1, () => wholePrompt(text)),
        part,
      ).to.be.below(5000);
    }
  });

  it('fences the prompt so that no content ends the fence', () => {
    expect(promptBody(undefined)).to.equal('Captured from a prompt.');
    expect(promptBody('@ann see #1')).to.equal('Captured from a prompt:\n\n```text\n@ann see #1\n```');
    const identity = { kind: 'id' as const, value: 'k1' };
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', '```', '\n', '<!-- steward id=other -->', 'a')), (parts) => {
        const prompt = wholePrompt(parts.join(''));
        const body = makeBody(promptBody(prompt), identity);
        expect(parseBody(body).identity).to.equal('id=k1');
        const fence = /^(`{3,})text$/m.exec(body)?.[1] as string;
        expect(
          body.split('\n').filter((line) => line.startsWith(fence) && line.trim() !== ''),
        ).to.have.length(2);
      }),
    );
    expect(makeBody(promptBody('`'.repeat(MAX_PROMPT)), identity).length).to.be.below(MAX_BODY);
  });
});
