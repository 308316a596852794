import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { expect } from 'chai';
import ts from 'typescript';

import { makeClassifier } from '../../../src/lib/time/classify';
import {
  EVENT_TYPES,
  readEvent,
  SOURCE_IDS,
  type SenseEvent,
  SENSE_VERSION,
} from '../../../src/lib/time/event';
import { buildDailyRecord } from '../../helpers/sense';

/**
 * The fingerprint of each version that was ever released, the present one last. When
 * the test below fails, the event schema, the adapter contract or the daily record has changed: raise
 * SENSE_VERSION and add a line. Only a version that nobody has may be given another fingerprint.
 */
const FINGERPRINTS: Record<string, string> = {
  '1.0.0': '02b8a268a9be2c96',
  '1.1.0': 'cb643c4d9ff5ada2',
  '1.2.0': '86e9c18b2f87d2d7',
  '1.3.0': 'e13e9def0772c191',
  '1.4.0': '37f48341165be194',
  '1.5.0': '4ad7ab24ac8ab481',
};

/** The types of these names without comments and spacing: what is promised, not how it is told. */
function contractOf(path: string, names: readonly string[]): string {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const printer = ts.createPrinter({ removeComments: true });
  return source.statements
    .filter((node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
    .filter((node) => names.includes(node.name.text))
    .map((node) => printer.printNode(ts.EmitHint.Unspecified, node, source).replace(/\s+/g, ' '))
    .join('\n');
}

/** What the reader takes and refuses of each field. */
function acceptedEvents(): unknown[] {
  const event = {
    ts: '2026-11-20T08:00:00.000Z',
    type: 'app-focus',
    source: 'appFocus',
    app: 'Code',
    repo: 'steward',
    detail: { intervalSec: 120 },
  };
  const values = [undefined, null, '', 'text', 7, true, [], {}, '2026-11-20T08:00:00+01:00', '2026-11-20'];
  const variants = Object.keys(event).flatMap((key) => values.map((value) => ({ ...event, [key]: value })));
  return [event, { ...event, more: 1 }, null, [], 'text', ...variants].map((value) => readEvent(value));
}

const EVENTS: SenseEvent[] = [
  ...['2026-10-24T22:00:00.000Z', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'].map((at, i) => ({
    ts: at,
    type: 'app-focus' as const,
    source: 'appFocus',
    app: ['Code', 'Firefox', 'code'][i]!,
    detail: { intervalSec: [120, 47, 13][i], machine: 'm', via: 'x11' },
  })),
  { ts: '2026-10-25T08:00:00.000Z', type: 'app-focus', source: 'appFocus', app: 'Unheard of' },
  {
    ts: '2026-10-25T09:00:00.000Z',
    type: 'git-commit',
    source: 'git',
    repo: 'steward',
    detail: {
      sha: 'a',
      subject: 's',
      authoredAt: '2026-10-25T09:00:00.000Z',
      path: '/p/steward',
      machine: 'm',
    },
  },
  ...['k', 'k.2', 'k'].map((identity) => ({
    ts: '2026-10-25T09:00:00.000Z',
    type: 'git-commit' as const,
    source: 'git',
    repo: 'steward',
    detail: { sha: 'b', subject: 's', authoredAt: '2026-10-25T09:00:00.000Z', identity, path: '/p/steward' },
  })),
  {
    ts: '2026-10-25T10:00:00.000Z',
    type: 'agent-session',
    source: 'agentSession',
    detail: { session: 'one', events: 3, machine: 'm' },
  },
  ...['working', 'waiting', 'ready', 'over'].map((state, i) => ({
    ts: `2026-10-25T08:0${i * 2}:30.000Z`,
    type: 'session-state' as const,
    source: 'agentSession',
    repo: 'steward',
    detail: { session: 'one', state, ...(i === 0 ? { prompt: true } : {}) },
  })),
  {
    ts: '2026-10-25T08:05:00.000Z',
    type: 'away',
    source: 'appFocus',
    detail: { from: '2026-10-25T08:03:00.000Z', reason: 'idle' },
  },
];

describe('sense: version', () => {
  it('changes with the event schema, the adapter contract and the record', () => {
    const record = buildDailyRecord('2026-10-25', EVENTS, {
      timezone: 'Europe/Paris',
      pollIntervalSec: 120,
      classify: makeClassifier('templates'),
      version: 'any',
      generatedAt: '2026-10-26T06:00:00.000Z',
      final: true,
    });
    const parts = {
      types: EVENT_TYPES,
      sources: SOURCE_IDS,
      event: contractOf('src/lib/time/event.ts', [
        ...[
          'EventType',
          'SourceId',
          'SenseEvent',
          'FocusDetail',
          'SessionState',
          'SessionStateDetail',
          'AwayDetail',
        ],
      ]),
      accepted: acceptedEvents(),
      adapter: contractOf('src/lib/sense/source.ts', ['Collected', 'CollectInput', 'SenseSource']),
      record: contractOf('src/lib/time/record.ts', [
        ...['AppTime', 'HourTime', 'DailyRecord', 'TallyOptions', 'RecordLabel'],
      ]),
      ledger: contractOf('src/lib/time/ledger/model.ts', [
        'Cells',
        'AttentionRow',
        'AgentRow',
        'Answers',
        'DayLedger',
        'GoalTag',
      ]),
      golden: record,
    };
    expect(parts.event).to.include('interface SenseEvent');
    expect(parts.adapter).to.include('interface SenseSource').and.to.include('collect(');
    const fingerprint = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
    expect(fingerprint, `the fingerprint of sense ${SENSE_VERSION}`).to.equal(FINGERPRINTS[SENSE_VERSION]);
  });

  it('has a different fingerprint for each version', () => {
    expect(Object.keys(FINGERPRINTS).at(-1)).to.equal(SENSE_VERSION);
    expect(new Set(Object.values(FINGERPRINTS)).size).to.equal(Object.keys(FINGERPRINTS).length);
  });
});
