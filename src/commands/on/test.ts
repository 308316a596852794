import { join } from 'node:path';

import { openProgramDeps } from '../../lib/app/programs';
import { BaseCommand, word } from '../../lib/cli/base-command';
import {
  PROGRAM_EVENTS,
  programsFor,
  testProgram,
  type ProgramEvent,
  type TestedProgram,
} from '../../lib/daemon/programs';
import { EXIT_CODES } from '../../lib/errors';
import { clean } from '../../lib/platform/terminal/terminal';

export default class OnTest extends BaseCommand {
  static override summary = "Run an event's programs with an example";
  static override description = 'Exits with 8 if a program fails.';
  static override args = {
    event: word({ required: true, description: 'Event.', options: [...PROGRAM_EVENTS] }),
  };
  static override examples = ['on test turn-ended', 'on test notification --json'];
  static override related = ['on list', 'daemon logs'];

  async run(): Promise<TestedProgram[]> {
    const { args } = await this.parse(OnTest);
    const deps = openProgramDeps(this.context);
    const results: TestedProgram[] = [];
    for (const program of programsFor(deps, args.event as ProgramEvent))
      results.push(await testProgram(deps, program));
    if (results.some(({ code }) => code !== 0)) process.exitCode = EXIT_CODES.unavailable;
    const lines = results.flatMap(({ path, result, output }) => [`${clean(path)}: ${clean(result)}`, output]);
    const none = `No programs in ${clean(join(deps.root, 'on', `${args.event}.d`))}. Put an executable file there.`;
    return this.show(results, () => lines.filter((line) => line !== '').join('\n') || none);
  }
}
