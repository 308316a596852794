import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';

import {
  ERROR_KINDS,
  StewardError,
  errnoCode,
  errorBody,
  orElse,
  toStewardError,
} from '../../src/lib/errors';

/** An error as the system throws it. */
function systemError(code: string, path?: string): Error {
  return Object.assign(
    new Error(`${code}: words of the system`),
    { code },
    path === undefined ? {} : { path },
  );
}

describe('errors', () => {
  it('carries kind, message, hint and cause', () => {
    const cause = new Error('why');
    const error = new StewardError('config', 'what', { hint: 'do', cause });
    expect(error).to.be.instanceOf(Error);
    expect(error).to.include({ name: 'StewardError', kind: 'config', message: 'what', hint: 'do', cause });
    expect(new StewardError('usage', 'what')).to.have.property('hint', undefined);
    expect('cause' in new StewardError('usage', 'what')).to.equal(false);
  });

  it('are replaced by a fallback unless they are internal', () => {
    const thrown = (error: Error) => () => {
      throw error;
    };
    expect(orElse('fallback', () => 'result')).to.equal('result');
    expect(orElse('fallback', thrown(systemError('EROFS')))).to.equal('fallback');
    const bug = new TypeError('x is undefined');
    expect(() => orElse('fallback', thrown(bug))).to.throw(bug);
  });

  it('has one shape in JSON, without the cause', () => {
    const secret = new Error('secret');
    for (const kind of ERROR_KINDS) {
      const body = errorBody(new StewardError(kind, 'what', { hint: 'do', cause: secret }));
      expect(JSON.parse(JSON.stringify(body))).to.deep.equal({
        error: { kind, message: 'what', hint: 'do' },
      });
    }
    expect(errorBody(new StewardError('usage', 'what'))).to.deep.equal({
      error: { kind: 'usage', message: 'what' },
    });
  });

  it('gives one of ours back as it is', () => {
    const error = new StewardError('locked', 'what');
    expect(toStewardError(error)).to.equal(error);
  });

  for (const [code, kind, words] of [
    ['EACCES', 'unavailable', 'Permission denied'],
    ['EPERM', 'unavailable', 'Operation not permitted'],
    ['EROFS', 'unavailable', 'The file system is read-only'],
    ['ENOSPC', 'unavailable', 'The disk is full'],
    ['EDQUOT', 'unavailable', 'Disk quota exceeded'],
    ['EFBIG', 'unavailable', 'The file is larger than the system allows'],
    ['EMFILE', 'unavailable', 'Too many open files'],
    ['ENFILE', 'unavailable', 'Too many open files'],
    ['EIO', 'unavailable', 'The disk reported a read or write error'],
    ['ESTALE', 'unavailable', 'The network folder is no longer available'],
    ['ENOTCONN', 'unavailable', 'The network folder is no longer available'],
    ['EREMOTEIO', 'unavailable', 'The network folder is not responding'],
    ['ENXIO', 'unavailable', 'The disk is no longer available'],
    ['ENODEV', 'unavailable', 'The disk is no longer available'],
    ['EBUSY', 'unavailable', 'In use by another program'],
    ['ETXTBSY', 'unavailable', 'The program is running'],
    ['ENOLCK', 'unavailable', 'No file locks are available'],
    ['ENOMEM', 'unavailable', 'Out of memory'],
    ['EXDEV', 'unavailable', 'Cannot move to another disk'],
    ['ENOTSUP', 'unavailable', 'The file system does not support this'],
    ['ENOSYS', 'unavailable', 'The file system does not support this'],
    ['ENOENT', 'not_found', 'No such file or folder'],
    ['ENOTDIR', 'config', 'Expected a folder, found a file'],
    ['EISDIR', 'config', 'Expected a file, found a folder'],
    ['ELOOP', 'config', 'Symbolic links form a loop'],
    ['ENAMETOOLONG', 'usage', 'The name is too long'],
  ] as const) {
    it(`says ${code} in plain words, with the path and what to do`, () => {
      const cause = systemError(code, '/the/path');
      const error = toStewardError(cause);
      expect(error).to.include({ kind, message: `${words}: /the/path`, cause });
      expect(error.hint).to.match(/^[A-Z].*\.$/);
      expect(toStewardError(systemError(code)).message).to.equal(words);
    });
  }

  it('names both folders that can be set elsewhere where one may not be written', () => {
    for (const code of ['EACCES', 'EPERM', 'EROFS'])
      expect(toStewardError(systemError(code)).hint, code).to.match(/STEWARD_HOME.*XDG_STATE_HOME/);
  });

  it('says what the system really throws', () => {
    const thrown = (work: () => unknown): StewardError => {
      try {
        work();
      } catch (error) {
        return toStewardError(error);
      }
      return expect.fail('it did not throw');
    };
    expect(thrown(() => readFileSync('/no/such/file'))).to.include({
      kind: 'not_found',
      message: 'No such file or folder: /no/such/file',
    });
    expect(thrown(() => readdirSync(__filename)).kind).to.equal('config');
    expect(thrown(() => readFileSync(__dirname)).kind).to.equal('config');
  });

  it('names what Node has no name for', () => {
    const { EDQUOT, ESTALE } = constants.errno;
    for (const [number, name] of [
      [EDQUOT, 'EDQUOT'],
      [ESTALE, 'ESTALE'],
    ] as const)
      expect(errnoCode(systemError(`Unknown system error -${number}`))).to.equal(name);
    expect(errnoCode(systemError('Unknown system error -9999'))).to.equal('Unknown system error -9999');
  });

  it('takes an abort for canceled', () => {
    const controller = new AbortController();
    controller.abort();
    expect(toStewardError(controller.signal.reason)).to.include({ kind: 'canceled' });
  });

  it('takes everything else for a bug, and keeps it as the cause', () => {
    const bug = new TypeError('x is not a function');
    expect(toStewardError(bug)).to.include({ kind: 'internal', message: 'x is not a function', cause: bug });
    expect(toStewardError(systemError('EWEIRD')).kind).to.equal('internal');
    expect(toStewardError('text')).to.include({ kind: 'internal', message: 'text' });
    expect(toStewardError(undefined)).to.include({ kind: 'internal', message: 'undefined' });
    expect(toStewardError(systemError('constructor')).kind).to.equal('internal');
  });

  it('reads a code only from errors that have one', () => {
    expect(errnoCode(systemError('EIO'))).to.equal('EIO');
    expect(errnoCode(new Error('none'))).to.equal(undefined);
    expect(errnoCode(Object.assign(new Error('number'), { code: 5 }))).to.equal(undefined);
    expect(errnoCode({ code: 'EIO' })).to.equal(undefined);
  });
});
