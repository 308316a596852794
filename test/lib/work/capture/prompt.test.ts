import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import { mayMatch } from '../../../../src/lib/work/capture/may-match';
import { isBareQueue, matchPrompt } from '../../../../src/lib/work/capture/prompt';
import { captureKey, isCaptured, recordKey } from '../../../../src/lib/work/capture/keys';
import { redact } from '../../../../src/lib/work/outgoing';
import { scratch } from '../../../helpers/scratch';

describe('the patterns of the prompt hook', () => {
  const takes: [string, string, string][] = [
    ['remind me to call Ann tomorrow at 9', 'reminder', 'call Ann tomorrow at 9'],
    ['Remind me to renew the certificate.', 'reminder', 'renew the certificate'],
    ['please remind me tomorrow at 10 to water the plants', 'reminder', 'water the plants tomorrow at 10'],
    ['remind me in 2 hours to stretch', 'reminder', 'stretch in 2 hours'],
    ['set a reminder to pay rent on friday', 'reminder', 'pay rent on friday'],
    ['Research the pricing of hosted runners', 'research', 'the pricing of hosted runners'],
    ['queue this for the newsletter later', 'queue', 'this for the newsletter'],
    ['queue this for later: split the parser', 'queue', 'split the parser'],
    ['queue the parser clean-up for later', 'queue', 'the parser clean-up'],
    ['- remind me to call Ann', 'reminder', 'call Ann'],
    ['2) remind me pls to squash the migrations', 'reminder', 'squash the migrations'],
    ["don't let me forget to revert the flag", 'reminder', 'revert the flag'],
    ['remind me: renew the certificate by 14 March', 'reminder', 'renew the certificate by 14 March'],
    ['remind me about the expired key next tuesday', 'reminder', 'the expired key next tuesday'],
    ['Research the first results of the pilot', 'research', 'the first results of the pilot'],
    ['research the pros and use cases of DuckDB', 'research', 'the pros and use cases of DuckDB'],
    ['remind me tomorrow: check the replica', 'reminder', 'check the replica tomorrow'],
    ['Remind me next tuesday about the broken build', 'reminder', 'the broken build next tuesday'],
    ['set a reminder for friday to review the change', 'reminder', 'review the change friday'],
    ['Please set a reminder for me to rotate the key on 1 June.', 'reminder', 'rotate the key on 1 June'],
    ['queue this up for tomorrow morning: the import', 'queue', 'the import tomorrow morning'],
    ['Research later: how others store keys', 'research', 'how others store keys'],
    [
      'research the licences, not now, keep it for later',
      'research',
      'the licences, not now, keep it for later',
    ],
    ['queue for later: typed routes', 'queue', 'typed routes'],
    ['queue this for monday: replace the csv parser', 'queue', 'replace the csv parser monday'],
    ['put this in the queue for later: the error pages', 'queue', 'the error pages'],
    ['10:42 is too late\nremind me to leave at 10', 'reminder', 'leave at 10'],
    ['fix the test\n\nremind me to tag the release', 'reminder', 'tag the release'],
  ];
  for (const [prompt, kind, text] of takes) {
    it(`takes: ${JSON.stringify(prompt)}`, () => {
      expect(matchPrompt(prompt)).to.deep.equal([{ kind, text }]);
      // What is asked before the patterns are loaded.
      expect(mayMatch(prompt)).to.equal(true);
    });
  }

  it('recognizes a queue request without a task', () => {
    for (const prompt of ['queue this', 'Please queue it up.', 'queue this for Bob', 'queue this for Bob later', 'fix the test\nqueue that for later'])
      expect(isBareQueue(prompt), prompt).to.equal(true);
    for (const prompt of ['queue this for later: the parser', 'queue this for the newsletter later', 'should I queue this?', '> queue this'])
      expect(isBareQueue(prompt), prompt).to.equal(false);
  }); // prettier-ignore

  const leaves = [
    'can you remind me to call Ann?',
    'remind me to call Ann?',
    'maybe remind me to call Ann',
    'could you research the pricing',
    'I should research the pricing',
    'we might want to queue this for later',
    'remind me what a monad is',
    'remind me of the plan',
    'remind me to',
    'research shows that it works',
    'research it',
    'queue the job for later processing',
    'queue this for later',
    'Queue it up for later.',
    'the message queue is for later',
    'write a test that says "remind me to call Ann"',
    '> remind me to call Ann',
    '"remind me to call Ann"',
    '    remind me to call Ann',
    '\tremind me to call Ann',
    '```\nremind me to call Ann\n```',
    '~~~text\nremind me to call Ann\n~~~',
    '```\nremind me to call Ann',
    '<log>\nremind me to call Ann\n</log>',
    'remind me about the flags of tar',
    'remind me to is the prefix that we match',
    '- research the alternatives to moment.js',
    'research the crash in the resizer and fix it',
    'Research the codebase first, then write a plan',
    'research the options above and give me a table',
    'research the usages of it now',
    'research the API and come back with a summary',
    'Queue for emails: one a tenant',
    'queue the parser for the worker: it is slow',
    'alice  10:42 AM\nremind me to send the numbers\n\nsum this up',
    '[10:42] alice: hi\nremind me to send the numbers',
    'INFO worker-3 picked a job\nresearch the cause: reset by peer',
    '2026-11-20T10:00:00Z start\nremind me to call Ann',
    'From: Ann <ann@example.org>\nremind me to call',
    `remind me to ${'x'.repeat(400)}`,
    `Look at this:\n${'a line that was pasted\n'.repeat(10)}remind me to call Ann`,
    '',
  ];
  for (const prompt of leaves) {
    it(`leaves: ${JSON.stringify(prompt.slice(0, 60))}`, () => {
      expect(matchPrompt(prompt)).to.deep.equal([]);
    });
  }

  it('matches nine in ten requests and at most one in a hundred other prompts', () => {
    // Written from the description of the hook alone; the patterns were tuned with the first half, then with the second.
    const path = join(__dirname, 'corpus', 'prompts.json');
    const { take, leave } = JSON.parse(readFileSync(path, 'utf8')) as {
      take: { prompt: string; lines: string[] }[];
      leave: string[];
    };
    expect([take.length, leave.length]).to.deep.equal([160, 190]);
    const missed = take.filter(({ prompt, lines }) => matchPrompt(prompt).length !== lines.length);
    expect(missed.length, JSON.stringify(missed)).to.be.below(16);
    for (const { prompt } of take)
      if (matchPrompt(prompt).length > 0) expect(mayMatch(prompt)).to.equal(true);
    const taken = leave.filter((prompt) => matchPrompt(prompt).length > 0);
    expect(taken.length, JSON.stringify(taken)).to.be.below(2);
  });

  it('reads greetings, sentences and polite questions before a request, and nothing that only has its words', () => {
    const lines = readFileSync(join(__dirname, 'corpus', 'asked.tsv'), 'utf8').split('\n');
    const cases = lines
      .filter((line) => line !== '' && !line.startsWith('# '))
      .map((line) => line.split('\t') as [string, string])
      .map(([text, prompt]) => ({ text, prompt: prompt.replaceAll('\\n', '\n') }));
    expect(cases.length).to.be.at.least(200);
    const wrong = cases.flatMap(({ text, prompt }) => {
      const found = matchPrompt(prompt).map((match) => match.text);
      return found.join(' | ') === (text === '-' ? '' : text) ? [] : [`${prompt} => ${found.join(' | ')}`];
    });
    expect(wrong).to.deep.equal([]);
  });

  it('matches only lines that start with its words', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2000 }), (text) => {
        const isPlain =
          !/^\s*(?:[-*+\u2022]|\d|please|pls|also|and|then|remind|don|do not|set|add|put|create|research|queue)/im.test(
            text,
          );
        if (isPlain) expect(matchPrompt(text)).to.deep.equal([]);
      }),
    );
  });

  it('reads no line longer than a typed one', () => {
    for (const long of ['a '.repeat(500_000), '!'.repeat(100_000), ' .'.repeat(50_000)])
      expect(matchPrompt(`remind me to call Ann ${long}x`)).to.deep.equal([]);
    expect(matchPrompt(`${'a '.repeat(500_000)}\nremind me to call Ann`)).to.deep.equal([]);
  });

  it('ignores case and spacing in the key of a request', () => {
    const key = captureKey('one', 'reminder', 'Call  Ann');
    expect(captureKey('one', 'reminder', 'call ann')).to.equal(key);
    expect(captureKey('two', 'reminder', 'call ann')).not.to.equal(key);
  });
});

describe('captured keys', () => {
  const box = scratch();
  it('stores keys only, and forgets the oldest first', () => {
    const path = box.path('seen.json');
    expect(isCaptured(path, 'k')).to.equal(false);
    recordKey(path, 'k', '2026-11-20T08:00:00Z');
    expect(isCaptured(path, 'k')).to.equal(true);
    expect(isCaptured(path, 'toString')).to.equal(false);
  });
});

describe('credentials in a text', () => {
  const secrets: [string, string][] = [
    ['use ghp_0123456789abcdefghijABCDEFGHIJ012345 for it', 'ghp_0123456789'],
    ['the password is hunter2hunter2', 'hunter2'],
    ['API_KEY=abc123def', 'abc123def'],
    ['key AKIAABCDEFGHIJKLMNOP now', 'AKIAABCDEFGHIJKLMNOP'],
    ['Bearer abcdefghijklmnop', 'abcdefghijklmnop'],
    ['https://ann:s3cret@example.org/x', 's3cret'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc', 'eyJhbGci'],
    [`Basic ${Buffer.from('ann:pässwörd').toString('base64')}`, Buffer.from('ann').toString('base64')],
    ['token: "two words"', 'two words'],
    ['MY_OWN_DB_PASSWORD=hunter2', 'hunter2'],
    ['Authorization: Basic YW5uOmh1bnRlcjI=', 'YW5uOmh1bnRlcjI'],
  ];
  for (const [text, secret] of secrets) {
    it(`go: ${text.slice(0, 24)}`, () => {
      expect(redact(text)).to.include('[redacted]').and.not.include(secret);
    });
  }
  it('keeps ordinary words', () => {
    for (const text of [
      'call Ann tomorrow at 9',
      'look at https://example.org/a:b',
      'the token bucket of the limiter',
      'document basic authentication and basic functionality',
    ])
      expect(redact(text)).to.equal(text);
  });
});
