import { expect } from 'chai';
import fc from 'fast-check';

import { readEvent } from '../../../src/lib/sense/event';
import { lineReader } from '../../../src/lib/sense/log-line';

const LINE =
  '{"ts":"2026-11-20T08:00:00.000Z","type":"app-focus","source":"appFocus","app":"Code","detail":{"intervalSec":8}}';

/** What a line says by itself. */
function alone(text: string): unknown {
  try {
    const event = readEvent(JSON.parse(text));
    if ('invalid' in event) return event;
    const { ts, ...signal } = event;
    return { signal, ts, ms: Date.parse(ts) };
  } catch {
    return { invalid: 'not JSON' };
  }
}

describe('sense: an event', () => {
  const event = { ts: '2026-11-20T08:00:00.000Z', type: 'app-focus', source: 'appFocus' };
  const reasonOf = (value: object): string | undefined => {
    const read = readEvent(value);
    return 'invalid' in read ? read.invalid : undefined;
  };

  it('has a time, a known type and a source', () => {
    for (const type of ['app-focus', 'git-commit', 'agent-session'])
      expect(reasonOf({ ...event, type }), type).to.equal(undefined);
    for (const ts of [undefined, 1, '', '2026-11-20', '2026-11-20T08:00:00', 'yesterday'])
      expect(reasonOf({ ...event, ts }), String(ts)).to.equal('ts is not an ISO-8601 time');
    for (const type of [undefined, 'keystroke', 'App-Focus', 'toString'])
      expect(reasonOf({ ...event, type }), type).to.equal('type is unknown');
    for (const source of [undefined, '', 7])
      expect(reasonOf({ ...event, source }), String(source)).to.equal('source is missing');
  });

  it('may name an application, a repository and details', () => {
    const all = { ...event, app: 'Code', repo: 'steward', detail: { intervalSec: 120, any: [null] } };
    expect(readEvent(all)).to.deep.equal(all);
    expect(readEvent(event)).to.deep.equal(event);
    expect(reasonOf({ ...event, app: 1 })).to.equal('app is not a string');
    expect(reasonOf({ ...event, repo: {} })).to.equal('repo is not a string');
    expect(reasonOf({ ...event, detail: [] })).to.equal('detail is not an object');
  });
});

describe('sense: the lines of a log', () => {
  const at = (ts: string, line = LINE): string => line.replace('2026-11-20T08:00:00.000Z', ts);

  it('says of every line the same as if it stood alone', () => {
    const ts = fc.oneof(
      fc
        .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
        .map((date) => date.toISOString()),
      fc.constantFrom(
        '2026-02-30T08:00:00.000Z',
        '2026-11-20T08:00:00.000+',
        'nonsense',
        '\\u0032026-11-20T08:00:0',
      ),
    );
    const rest = fc.constantFrom(
      LINE,
      LINE.replace('Code', 'Firefox'),
      LINE.replace('app-focus', 'unheard-of'),
      `${LINE.slice(0, -1)},"ts":"2020-01-01T00:00:00.000Z"}`,
      LINE.replace('"type"', '"ts":"2020-01-01T00:00:00.000Z","type"'),
      LINE.replace('{"ts"', '{ "ts"'),
      LINE.slice(0, -1),
      `${LINE} x`,
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(ts, rest), { maxLength: 12 }), (lines) => {
        const reader = lineReader();
        for (const [time, line] of lines) {
          const text = at(time, line);
          const before = 'x'.repeat(time.length);
          let found: unknown;
          const known = reader.readKnown(
            `${before}${text}\n`,
            before.length,
            before.length + text.length,
            (signal, ms, ts) => {
              found = { signal, ms, ts };
            },
          );
          expect(known ? found : reader.read(text)).to.deep.equal(alone(text));
        }
      }),
    );
  });

  it('parses what follows the time once', () => {
    const reader = lineReader();
    const first = reader.read(LINE);
    if ('invalid' in first) throw new Error('it is an event');
    const text = at('2026-11-20T08:00:08.000Z');
    const known = reader.readKnown(text, 0, text.length, (signal, ms) => {
      expect(signal).to.equal(first.signal);
      expect(ms - first.ms).to.equal(8000);
    });
    expect(known).to.equal(true);
    expect(reader.readKnown(text, 0, text.length - 1, () => undefined)).to.equal(false);
  });
});
