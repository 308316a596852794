import { expect } from 'chai';

import { readEvent, readEventLine } from '../../../src/lib/time/event';

const LINE =
  '{"ts":"2026-11-20T08:00:00.000Z","type":"app-focus","source":"appFocus","app":"Code","detail":{"intervalSec":8}}';

describe('sense: an event', () => {
  const event = { ts: '2026-11-20T08:00:00.000Z', type: 'app-focus', source: 'appFocus' };
  const reasonOf = (value: object): string | undefined => {
    const read = readEvent(value);
    return 'invalid' in read ? read.invalid : undefined;
  };

  it('requires a time, a known type and a source', () => {
    for (const type of ['app-focus', 'git-commit', 'agent-session', 'session-state', 'away', 'web-focus'])
      expect(reasonOf({ ...event, type }), type).to.equal(undefined);
    for (const ts of [undefined, 1, '', '2026-11-20', '2026-11-20T08:00:00', 'yesterday'])
      expect(reasonOf({ ...event, ts }), String(ts)).to.equal('ts is not an ISO-8601 time');
    for (const type of [undefined, 'keystroke', 'App-Focus', 'toString'])
      expect(reasonOf({ ...event, type }), type).to.equal('type is unknown');
    for (const source of [undefined, '', 7])
      expect(reasonOf({ ...event, source }), String(source)).to.equal('source is missing');
  });

  it('accepts an application, a repository and details', () => {
    const all = { ...event, app: 'Code', repo: 'steward', detail: { intervalSec: 120, any: [null] } };
    expect(readEvent(all)).to.deep.equal(all);
    expect(readEvent(event)).to.deep.equal(event);
    expect(reasonOf({ ...event, app: 1 })).to.equal('app is not a string');
    expect(reasonOf({ ...event, repo: {} })).to.equal('repo is not a string');
    expect(reasonOf({ ...event, detail: [] })).to.equal('detail is not an object');
  });
});

describe('sense: log lines', () => {
  it('are events, or have a reason', () => {
    expect(readEventLine(LINE)).to.deep.include({ ts: '2026-11-20T08:00:00.000Z', type: 'app-focus' });
    for (const line of ['', 'nonsense', '[]', 'null'])
      expect(readEventLine(line)).to.deep.equal({ invalid: 'not an object' });
    for (const line of [LINE.slice(0, -1), `${LINE} x`, '{'])
      expect(readEventLine(line)).to.deep.equal({ invalid: 'not JSON' });
    expect(readEventLine(LINE.replace('app-focus', 'unheard-of'))).to.deep.equal({
      invalid: 'type is unknown',
    });
  });
});
