import { Config } from '@oclif/core/config';
import type { Command } from '@oclif/core/command';
import { expect } from 'chai';
import { join } from 'node:path';

import { StewardHelp } from '../../../src/lib/cli/help';
import { provideAccount } from '../../../src/lib/platform/files/paths';
import { long } from '../../helpers/long';

/** Renders the help of a command at 80 columns, as its lines. */
class Rendered extends StewardHelp {
  linesOf(command: Command.Loadable): string[] {
    return `${this.summary(command) ?? ''}\n\n${this.formatCommand(command)}`.split('\n');
  }
}

describe('the help of each command', () => {
  before(() => provideAccount());

  long('fits 24 lines of 80 columns, or groups its flags', async () => {
    const config = new Config({ root: join(__dirname, '..', '..', '..') });
    await config.load();
    const help = new Rendered(config, { maxWidth: 78 });
    const long = config.commands
      .filter(({ id, hidden }) => hidden !== true && id !== 'help')
      .filter((command) => help.linesOf(command).length > 24)
      .filter(({ flags }) =>
        Object.values(flags).every(({ helpGroup = '' }) => helpGroup === '' || helpGroup === 'GLOBAL'),
      );
    expect(config.commands).to.have.length.above(100);
    expect(long.map((command) => `${command.id}: ${help.linesOf(command).length}`)).to.deep.equal([]);
  });

  it('has examples that begin with a command, or name the program themselves', async () => {
    const config = new Config({ root: join(__dirname, '..', '..', '..') });
    await config.load();
    const names = config.commandIDs.map((id) => `${id.replaceAll(':', ' ')} `);
    const wrong = config.commands.flatMap(({ examples = [] }) =>
      examples
        .map((example) => (typeof example === 'string' ? example : example.command))
        .filter((text) => !text.includes('config.bin'))
        .filter((text) => !names.some((name) => `${text} `.startsWith(name))),
    );
    expect(wrong).to.deep.equal([]);
  });
});
