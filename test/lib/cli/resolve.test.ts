import { expect } from 'chai';

import { resolveCommand } from '../../../src/lib/cli/resolve';

const IDS = [
  'config:path',
  'help',
  'sense:today',
  'sense:classify:explain',
  'completion',
  'config:set',
  'install',
  'uninstall',
];

function resolve(line: string): unknown {
  return resolveCommand(line === '' ? [] : line.split(' '), IDS);
}

describe('resolveCommand', () => {
  const cases: [line: string, expected: unknown][] = [
    ['sense today', { kind: 'command', id: 'sense:today', argv: [] }],
    ['sense today --days 3 x', { kind: 'command', id: 'sense:today', argv: ['--days', '3', 'x'] }],
    ['sense today surplus', { kind: 'command', id: 'sense:today', argv: ['surplus'] }],
    ['sense classify explain Ghostty', { kind: 'command', id: 'sense:classify:explain', argv: ['Ghostty'] }],
    ['completion bash', { kind: 'command', id: 'completion', argv: ['bash'] }],
    ['autocomplete bash', { kind: 'command', id: 'completion', argv: ['bash'] }],
    ['hooks install --skill', { kind: 'command', id: 'install', argv: ['hooks', '--skill'] }],
    ['hooks install --help', { kind: 'help', words: ['install'] }],
    ['hooks uninstall', { kind: 'command', id: 'uninstall', argv: ['hooks'] }],
    ['sense install --status', { kind: 'command', id: 'install', argv: ['jobs', '--status'] }],
    ['--json sense install', { kind: 'command', id: 'install', argv: ['jobs', '--json'] }],
    ['daemon install --uninstall', { kind: 'command', id: 'uninstall', argv: ['daemon'] }],
    [
      'sense install --insight --uninstall',
      { kind: 'command', id: 'config:set', argv: ['sense.insight.hourly', 'false'] },
    ],
    ['--json sense today', { kind: 'command', id: 'sense:today', argv: ['--json'] }],
    ['sense today -- --help', { kind: 'command', id: 'sense:today', argv: ['--', '--help'] }],
    ['sense today --help', { kind: 'help', words: ['sense', 'today'] }],
    ['sense today surplus -h', { kind: 'help', words: ['sense', 'today'] }],
    ['sense', { kind: 'topic', words: ['sense'] }],
    ['sense --json', { kind: 'topic', words: ['sense'] }],
    ['sense classify', { kind: 'topic', words: ['sense', 'classify'] }],
    ['sense --help', { kind: 'help', words: ['sense'] }],
    ['', { kind: 'topic', words: [] }],
    ['--help', { kind: 'help', words: [] }],
    ['--json', { kind: 'topic', words: [] }],
    ['sense capure', { kind: 'unknown', words: ['sense', 'capure'] }],
    ['sens --help', { kind: 'unknown', words: ['sens'] }],
    ['--foo', { kind: 'unknown', words: ['--foo'] }],
    ['sense:today', { kind: 'command', id: 'sense:today', argv: [] }],
  ];
  for (const [line, expected] of cases) {
    it(`steward ${line}`, () => {
      expect(resolve(line)).to.deep.equal(expected);
    });
  }
});
