import { readRoster, type Roster } from '../../../lib/agents/roster';
import { rosterCheckText } from '../../../lib/agents/view';
import { openRoster } from '../../../lib/app/agents';
import { BaseCommand } from '../../../lib/cli/base-command';
import { EXIT_CODES } from '../../../lib/platform/terminal/error-report';

export default class AgentsRosterCheck extends BaseCommand {
  static override summary = 'Check every file in the roster';
  static override description =
    'Reports invalid front matter, duplicate names, unknown traits or model tiers, symbolic links and binary files. Exits 3 if an agent cannot be used.';
  static override examples = ['agents roster check', 'agents roster check --json'];
  static override related = ['agents roster list', 'agents roster traits'];

  async run(): Promise<Roster> {
    const { agents, problems } = await readRoster(openRoster(this.context));
    this.print(() => rosterCheckText({ agents, problems }, this.terminal));
    if (problems.some(({ level }) => level === 'error')) process.exitCode = EXIT_CODES.config;
    return { agents, problems };
  }
}
