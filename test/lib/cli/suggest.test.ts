import { expect } from 'chai';

import { commands } from '../../../oclif.manifest.json';
import { OTHER_NAMES, suggest, suggestCommand, unknownCommand } from '../../../src/lib/cli/usage-errors';

const COMMANDS = ['sense capture', 'sense today', 'config path', 'help', 'up'];

describe('suggest', () => {
  it('suggests only commands that exist for what other programs call them', () => {
    for (const [name, command] of OTHER_NAMES) {
      const [words = ''] = command.split(' --');
      expect(commands, command).to.have.property(words.replace(' ', ':'));
      expect(commands, name).to.not.have.property(name.replace(' ', ':'));
      expect(suggestCommand(name.split(' '), ['time'])).to.equal(command);
    }
  });

  it('finds the nearest and nothing when all are far', () => {
    expect(suggest('--jsn', ['--json', '--debug'])).to.equal('--json');
    expect(suggest('--xyz', ['--json', '--debug'])).to.equal(undefined);
    expect(suggest('up', ['go'])).to.equal(undefined);
    expect(suggest('nope', ['open', 'notify'])).to.equal(undefined);
    expect(suggest('opne', ['go', 'open'])).to.equal('open');
    expect(suggest('snese', ['sessions', 'sense'])).to.equal('sense');
  });

  it('finds misspelt commands, topics, and commands without their topic', () => {
    expect(suggestCommand(['sense', 'capure'], COMMANDS)).to.equal('sense capture');
    expect(suggestCommand(['senes', 'today'], COMMANDS)).to.equal('sense today');
    expect(suggestCommand(['senes'], COMMANDS)).to.equal('sense');
    expect(suggestCommand(['sense', 'week'], [...COMMANDS, 'week'])).to.equal('week');
    expect(suggestCommand(['capture'], COMMANDS)).to.equal('sense capture');
    expect(suggestCommand(['hlep', 'sense'], COMMANDS)).to.equal('help');
    expect(suggestCommand(['frobnicate'], COMMANDS)).to.equal(undefined);
  });

  it('is a usage error that shows nothing raw', () => {
    const error = unknownCommand(['sense', '\u001b[31mred\u0007'], [{ id: 'sense:today' }]);
    expect(error.kind).to.equal('usage');
    expect(error.message).to.equal('Unknown command "steward sense red".');
  });
});
