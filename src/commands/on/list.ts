import { join } from 'node:path';

import { openProgramDeps } from '../../lib/app/programs';
import { BaseCommand } from '../../lib/cli/base-command';
import { allPrograms, PROGRAM_EVENTS, programState } from '../../lib/daemon/programs';
import { clean } from '../../lib/platform/terminal/terminal';

export default class OnList extends BaseCommand {
  static override summary = 'List the programs that the daemon runs on events';
  static override description = 'Programs are executable files in ~/.steward/on/EVENT.d.';
  static override examples = ['on list', 'on list --json'];
  static override related = ['on test EVENT', 'daemon logs'];

  run(): Promise<object> {
    const deps = openProgramDeps(this.context);
    const programs = allPrograms(deps);
    const rows = programs.map((program) => clean(`${program.path}: ${programState(program)}`));
    const none = [
      `No programs in ${clean(join(deps.root, 'on'))}. Put executable files into these folders there:`,
      ...PROGRAM_EVENTS.map((event) => `  ${event}.d`),
    ];
    return Promise.resolve(this.show(programs, () => (rows.length > 0 ? rows : none).join('\n')));
  }
}
