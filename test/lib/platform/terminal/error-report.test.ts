import { expect } from 'chai';

import { reportError } from '../../../../src/lib/platform/terminal/error-report';
import { ERROR_KINDS, StewardError, EXIT_CODES } from '../../../../src/lib/errors';

describe('exit codes and error reports', () => {
  it('are the table of the terminal contract', () => {
    expect(ERROR_KINDS.map((kind) => [kind, EXIT_CODES[kind]])).to.deep.equal([
      ['usage', 2],
      ['config', 3],
      ['auth', 4],
      ['not_found', 5],
      ['conflict', 6],
      ['locked', 7],
      ['unavailable', 8],
      ['canceled', 130],
      ['internal', 1],
    ]);
  });

  const error = new StewardError('config', 'a.yaml: x is wrong.\nb.yaml: y is\u001b[2J wrong.', {
    hint: 'Correct them.',
    cause: new Error('inner'),
  });

  it('says what is and what to do, a line each, without a stack', () => {
    const report = reportError(error, { json: false, debug: false });
    expect(report).to.deep.equal({
      exitCode: 3,
      text: 'a.yaml: x is wrong.\nb.yaml: y is wrong.\nCorrect them.\n',
    });
  });

  it('shows the stack and the causes with debug', () => {
    const { text } = reportError(error, { json: false, debug: true });
    expect(text).to.match(/error-report\.test/);
    expect(text).to.match(/Caused by: Error: inner/);
  });

  it('has the one JSON shape', () => {
    const { text } = reportError(error, { json: true, debug: false });
    expect(JSON.parse(text)).to.deep.equal({
      error: { kind: 'config', message: error.message, hint: 'Correct them.' },
    });
    expect(text).not.to.include('\u001b');
  });

  it('calls a thrown value that nobody expected a fault of steward', () => {
    const report = reportError(new TypeError('x is undefined'), { json: false, debug: false });
    expect(report.exitCode).to.equal(1);
    expect(report.text).to.match(/^x is undefined\n.*bug in steward.*--debug/);
  });
});
