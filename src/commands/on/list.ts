import { openProgramDeps } from '../../lib/app/programs';
import { BaseCommand } from '../../lib/cli/base-command';
import { allPrograms, PROGRAM_EVENTS } from '../../lib/daemon/programs';
import { table } from '../../lib/platform/terminal/format';
import { clean } from '../../lib/platform/terminal/terminal';

export default class OnList extends BaseCommand {
  static override summary = 'List the programs that the daemon runs on events';
  static override description = 'Programs are executable files in ~/.steward/on/EVENT.d.';
  static override examples = ['on list', 'on list --json'];
  static override related = ['on test EVENT', 'daemon logs'];

  run(): Promise<object> {
    const programs = allPrograms(openProgramDeps(this.context));
    const rows = programs.map(({ event, path, why }) => [event, clean(why ?? 'runs'), clean(path)]);
    return Promise.resolve(
      this.show(programs, () => table(rows) || `No programs. Events: ${PROGRAM_EVENTS.join(', ')}.`),
    );
  }
}
