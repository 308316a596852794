import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { commands } from '../../oclif.manifest.json';
import { description } from '../../package.json';

interface Facts {
  id: string;
  hidden?: boolean;
  flags: Record<string, { hidden?: boolean; helpValue?: string; description?: string }>;
}

const COMMANDS = Object.values(commands) as unknown as Facts[];

/** Each visible flag as `command --flag`. */
const FLAGS = COMMANDS.flatMap(({ id, flags }) =>
  Object.entries(flags)
    .filter(([, { hidden }]) => hidden !== true)
    .map(([name, flag]) => ({ at: `${id.replaceAll(':', ' ')} --${name}`, name, ...flag })),
);

const OTHER_WORDS: Readonly<Record<string, string>> = {
  since: '--of',
  until: '--of',
  from: '--of',
  to: '--of',
  day: '--of',
  days: '--of',
  before: '--of',
  after: '--of',
  last: '--limit',
  lines: '--limit',
  max: '--limit',
  apply: '--dry-run',
  preview: '--dry-run',
  force: '--yes',
};

const OTHER_VERBS: Readonly<Record<string, string>> = {
  delete: 'remove or purge',
  rm: 'remove',
  clear: 'purge',
  disable: 'uninstall',
};

describe('the words of commands and flags', () => {
  const table = readFileSync(join(__dirname, '..', '..', 'CONTRIBUTING.md'), 'utf8');

  it('has one flag for each meaning', () => {
    // `--force` rebuilds an insight that is current; nothing is asked there.
    const allowed = ['sense insight build --force'];
    const wrong = FLAGS.filter(({ at, name }) => OTHER_WORDS[name] !== undefined && !allowed.includes(at));
    expect(wrong.map(({ at, name }) => `${at}: use ${OTHER_WORDS[name] ?? ''}`)).to.deep.equal([]);
  });

  it('hides what only hooks, jobs and old scripts call', () => {
    const called = ['hook', 'tick', 'notify:announce', 'notify:deliver', 'notify:phase', 'notify:triggers']; // prettier-ignore
    for (const id of [...called, 'work:deliver', 'sense:init', 'sense:version'])
      expect(COMMANDS.find((command) => command.id === id)?.hidden, id).to.equal(true);
  });

  it('describes steward in the README as in the package', () => {
    const readme = readFileSync(join(__dirname, '..', '..', 'README.md'), 'utf8');
    expect(readme.replace(/\s+/g, ' ')).to.include(description);
  });

  it('has one verb for each meaning', () => {
    const wrong = COMMANDS.filter(({ id }) => OTHER_VERBS[id.split(':').at(-1) ?? ''] !== undefined);
    expect(wrong.map(({ id }) => id)).to.deep.equal([]);
  });

  it('takes a period with --of, and says so', () => {
    const days = FLAGS.filter(({ name }) => name === 'of');
    expect(days).to.have.length.above(7);
    const oneDay = days.filter(({ helpValue }) => helpValue !== 'PERIOD');
    expect(oneDay.map(({ at }) => at)).to.deep.equal(['sense today --of']);
    const vague = days.filter(
      ({ at, description = '' }) =>
        !oneDay.some((day) => day.at === at) && !description.includes('last week'),
    );
    expect(vague).to.deep.equal([]);
  });

  it('is in the table of CONTRIBUTING', () => {
    for (const word of ['--of PERIOD', '--limit N', '--dry-run', '--yes', '--repo', '`purge`', '`setup`'])
      expect(table, word).to.include(word);
  });
});
