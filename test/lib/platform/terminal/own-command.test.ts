import { expect } from 'chai';

import { fold, wrap } from '../../../../src/lib/platform/terminal/fold';
import { howToRemove, typedHere } from '../../../../src/lib/platform/terminal/own-command';

describe('terminal: commands as they work here', () => {
  const start = { npm_lifecycle_event: 'start', npm_command: 'run-script', npm_package_name: 'steward-cli' };
  const npx = { npm_lifecycle_event: 'npx', npm_command: 'exec', npm_package_name: 'steward-cli' };
  const elsewhere = { ...npx, npm_package_name: 'website' };

  it('are those of an installed steward unless npm started this process', () => {
    const text = 'Run "steward up".\n  steward doctor';
    expect(typedHere(text, {})).to.equal(text);
    expect(typedHere(text, { npm_command: 'test', npm_package_name: 'steward-cli' })).to.equal(text);
  });

  it('name npm start or npx otherwise', () => {
    for (const [by, text, typed] of [
      [
        start,
        'Choose another port: steward config set daemon.port N',
        'Choose another port: npx steward config set daemon.port N',
      ],
      [start, 'Run "steward up" to try again.', 'Run "npm start" to try again.'],
      [
        start,
        'To confirm without a terminal: steward up --yes',
        'To confirm without a terminal: npm start -- --yes',
      ],
      [start, 'Try "steward up --port 31338".', 'Try "npm start -- --port 31338".'],
      [npx, 'See `steward daemon logs`.', 'See `npx steward daemon logs`.'],
      [npx, 'Run "steward up" to try again.', 'Run "npx steward up" to try again.'],
      [elsewhere, 'Run "steward init".', 'Run "npx steward-cli init".'],
      [npx, 'jobs      off\n          steward install', 'jobs      off\n          npx steward install'],
      [npx, '  \u001b[1msteward install\u001b[22m', '  \u001b[1mnpx steward install\u001b[22m'],
    ] as const)
      expect(typedHere(text, by)).to.equal(typed);
  });

  it('are those of the demo in the demo, but for what sets up your own data', () => {
    const demo = { STEWARD_DEMO: '/tmp/demo' };
    for (const [by, text, typed] of [
      [demo, 'Run "steward inbox".', 'Run "steward demo -- inbox".'],
      [demo, '  steward up', '  steward up'],
      [demo, '  steward demo -- sessions', '  steward demo -- sessions'],
      [{ ...elsewhere, ...demo }, '  steward inbox', '  npx steward-cli demo -- inbox'],
      [{ ...elsewhere, ...demo }, '  steward demo -- time', '  npx steward-cli demo -- time'],
    ] as const) {
      expect(typedHere(text, by)).to.equal(typed);
      expect(typedHere(typed, by)).to.equal(typed);
    }
  });

  it('are wrapped once, with their own length', () => {
    const hint =
      'Run `steward config set notifications.push.topic TOPIC` to send pushes, or `steward doctor --online`.';
    process.env['npm_command'] = 'exec';
    try {
      const lines = wrap(hint, 60, '         ');
      expect(fold(typedHere(lines.join('\n')), 60).split('\n')).to.deep.equal(lines);
      const words = lines.map((line) => line.trim()).join(' ');
      expect(words.replaceAll(/`npx steward(-cli)?/g, '`steward')).to.equal(hint);
    } finally {
      delete process.env['npm_command'];
    }
  });

  it('leave everything else as it is', () => {
    for (const text of [
      'steward records the name of the application.',
      'This is a bug in steward.',
      '/home/ann/steward src',
      'Your steward is here.',
    ])
      expect(typedHere(text, start)).to.equal(text);
  });
});

describe('how to remove the program', () => {
  const ways = {
    '/usr/local/lib/node_modules/steward-cli': 'To remove the program: npm uninstall --global steward-cli',
    'C:\\Users\\ann\\node_modules\\steward-cli': 'To remove the program: npm uninstall --global steward-cli',
    '/opt/homebrew/Cellar/steward/0.1.0/libexec/lib/node_modules/steward-cli':
      'To remove the program: brew uninstall steward',
    '/home/ann/.npm/_npx/a601c9a4/node_modules/steward-cli': 'npm keeps the program in its cache only.',
    '/usr/lib/steward': 'Remove the program as you installed it.',
    '/home/ann/src/steward': 'Remove the program as you installed it.',
  };
  for (const [root, said] of Object.entries(ways)) {
    it(`in ${root}`, () => expect(howToRemove(root)).to.equal(said));
  }
});
