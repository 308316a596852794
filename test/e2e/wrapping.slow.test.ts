import { expect } from 'chai';

import { commands } from '../../oclif.manifest.json';
import { displayWidth } from '../../src/lib/platform/terminal/text-width';
import { annsHome, docEnv, furnish } from '../helpers/doc-home';
import { blocksOf, commandLines, docPages, stewardCalls } from '../helpers/doc-pages';
import { startGitHub, type GitHub } from '../helpers/github';
import { screensOf, type Screen } from '../helpers/on-terminal';
import { requireTerminal } from '../helpers/real-part';

/** Commands that do not end, need a service that is not here, or print what a program reads. */
const LEFT_OUT =
  /^(?:daemon (?:serve|logs --follow)|demo|find |inbox$|open|mcp|sessions --watch|agents (?:watch|managed)|hook |shell-hook|completion|doctor .*--(?:sound|online)|notify test|uninstall$)|--json/;

/** Further screens: help, and errors with a hint. */
const MORE = [
  'inbox --plain',
  '--help',
  'sense --help',
  'notify send --help',
  'sense purge --help',
  'agents managed run --help',
  'sesne today',
  'config set sense.retentionDays many',
  'config set senes.retentionDays 60',
  'work claim twelve',
  'sense rollup 20.11.2026',
  'notify phase climbing',
  'agents roster show nobody-of-that-name',
];

/** Shown at 60 and 120 columns as well. */
const SOME =
  /^(?:sense (?:today|status)|status|config show|work board|notify routes|sessions|standup|doctor|--help|hooks install --dry-run)$/;

/** The commands that the pages tell a reader to type; of several that differ in their arguments alone the first. */
function documented(): string[][] {
  const calls = docPages()
    .flatMap(blocksOf)
    .flatMap(commandLines)
    .flatMap(({ line }) => stewardCalls(line))
    .filter((words) => !LEFT_OUT.test(words.join(' ')));
  const kind = (words: string[]): string => {
    const flag = words.findIndex((word) => word.startsWith('-'));
    const plain = words.slice(0, flag === -1 ? words.length : flag);
    while (plain.length > 0 && !(plain.join(':') in commands)) plain.pop();
    return [...plain, ...(flag === -1 ? [] : words.slice(flag))].join(' ');
  };
  const first = new Map(calls.toReversed().map((words) => [kind(words), words]));
  return [
    ...calls.filter((words) => first.get(kind(words)) === words),
    ...MORE.map((line) => line.split(' ')),
  ];
}

// Colours, cursor movements and titles.
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[ -/]*[0-~])/g;

function linesOf({ text }: Screen): string[] {
  return text.replace(SEQUENCES, '').split(/[\r\n]+/);
}

/** Lines that the terminal would break, except for one that is a single long word such as a path. */
function overlong(screen: Screen, columns: number): string[] {
  return linesOf(screen).filter((line) => displayWidth(line) > columns && line.trim().includes(' '));
}

/** How far a delivery is after 300 ms depends on the machine, and so does what `doctor` says of the time of a hook. */
const LATER = new Set(
  'accepted delivered failed responded took which delays the assistant Check system load.'.split(' '),
);

/** Words without those that differ from run to run, or that a table cuts with an ellipsis. */
function wordsOf(screen: Screen): string[] {
  return linesOf(screen)
    .flatMap((line) => line.split(/[\s|]+/))
    .filter((word) => /^[("]?[a-z][a-z-]+[a-z][)".,;:?]*$/i.test(word) && !LATER.has(word));
}

describe('text on a terminal (built)', function () {
  this.timeout(240_000);
  const services: GitHub[] = [];
  const homes: ReturnType<typeof annsHome>[] = [];

  before(function () {
    requireTerminal(this);
  });

  after(async () => {
    for (const github of services) await github.close();
    for (const home of homes) home.remove();
  });

  async function screens(
    columns: number,
    commands: readonly string[][],
    isFurnished = true,
  ): Promise<Screen[]> {
    const home = annsHome();
    homes.push(home);
    const github = await startGitHub({ repos: [] });
    services.push(github);
    if (isFurnished) await furnish(home.path);
    return screensOf(commands, { home: home.path, columns, env: docEnv(home.path, { github }) });
  }

  it('is folded between words at 40 and 80 columns', async () => {
    const commands = documented();
    const [narrow, wide] = await Promise.all([screens(40, commands), screens(80, commands)]);
    const faults = narrow.flatMap((screen, index) => {
      const other = wide[index] as Screen;
      const known = new Set(wordsOf(other));
      const name = `steward ${screen.args.join(' ')}`;
      return [
        ...(screen.code < 0 || other.code < 0 ? [`${name}: killed`] : []),
        ...overlong(screen, 40).map((line) => `${name} at 40: overlong: ${line}`),
        ...overlong(other, 80).map((line) => `${name} at 80: overlong: ${line}`),
        ...wordsOf(screen)
          .filter((word) => !known.has(word))
          .map((word) => `${name} at 40: broken word: ${word}`),
      ];
    });
    expect(faults).to.deep.equal([]);
  });

  it('is folded at 60 and 120 columns, and in an empty home', async () => {
    const some = documented().filter((words) => SOME.test(words.join(' ')));
    expect(some.length).to.be.at.least(10);
    const sizes = [60, 120, 40] as const;
    const shown = await Promise.all(sizes.map((columns) => screens(columns, some, columns !== 40)));
    const faults = shown.flatMap((list, index) =>
      list.flatMap((screen) =>
        overlong(screen, sizes[index] ?? 0).map(
          (line) => `steward ${screen.args.join(' ')} at ${sizes[index]}: overlong: ${line}`,
        ),
      ),
    );
    expect(faults).to.deep.equal([]);
  });
});
