import { openTime } from '../../lib/app/time';
import { BaseCommand, machine, ofOr } from '../../lib/cli/base-command';
import { goalsText, type GoalTime } from '../../lib/goals/view';

export default class Goals extends BaseCommand {
  static override summary = 'Show your goals and the time that went into them';
  static override description =
    'Goals are items such as "- **G1**: Write the book" below the heading "Active Goals" of goals.md. Lines below a goal choose the work that counts for it ("repos: book", "projects: …", "labels: …" or "sites: …"; the first match counts) and state a target ("target: 10 h a week").';
  static override flags = { of: ofOr('this week', 'Days to show'), machine };
  static override examples = ['goals', 'goals --of October', 'goals add "Write the book" --repo ~/book'];
  static override related = ['goals add TEXT', 'time --by goal'];

  async run(): Promise<GoalTime[]> {
    const { flags } = await this.parse(Goals);
    const { machine } = flags;
    const time = await openTime(this.context, await this.period(flags.of), { by: 'goal', machine });
    for (const note of time.notes) this.say(note);
    const goals = time.goals();
    return this.show(goals, () => goalsText(goals, this.context.area.goals, this.terminal));
  }
}
