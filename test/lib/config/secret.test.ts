import { expect } from 'chai';
import { join } from 'node:path';
import { inspect } from 'node:util';

import { resolveSecret, secret } from '../../../src/lib/config/secret';
import { StewardError } from '../../../src/lib/errors';

describe('config: secrets', () => {
  const sources = {
    env: { TOPIC: 'from-env', EMPTY: '' },
    readFile: (path: string) => (path === join('/home/ann', '.topic') ? 'from-file\n' : undefined),
    home: '/home/ann',
  };
  const value = (stored: string) => resolveSecret(secret('notifications.push.topic', stored), sources);

  it('are the text, a variable, or a file', () => {
    expect(value('plain')).to.equal('plain');
    expect(value('env:TOPIC')).to.equal('from-env');
    expect(value('file:~/.topic')).to.equal('from-file');
    expect(value('')).to.equal(undefined);
  });

  it('that a reference does not give are a config error that says where to put them', () => {
    for (const [stored, problem] of [
      ['env:MISSING', 'environment variable MISSING is not set'],
      ['env:EMPTY', 'environment variable EMPTY is not set'],
      ['file:/nowhere', 'file /nowhere is missing or empty'],
    ] as const) {
      expect(() => value(stored))
        .to.throw(StewardError, `notifications.push.topic: ${problem}.`)
        .with.property('kind', 'config');
    }
  });

  it('show nothing in a text, in JSON, or in a log', () => {
    const made = { topic: secret('k', 'hush') };
    for (const text of [
      `${made.topic}`,
      JSON.stringify(made),
      inspect(made),
      inspect(made, { showHidden: true }),
    ]) {
      expect(text).to.include('•••• (set)').and.to.not.include('hush');
    }
    expect(JSON.stringify({ topic: secret('k', '') })).to.equal('{"topic":""}');
  });
});
