import { basename } from 'node:path';

import { BaseCommand, repeatable, text, word } from '../../lib/cli/base-command';
import { addGoal } from '../../lib/goals/record';
import { checkedSite } from '../../lib/platform/net/site';
import { cleanLine } from '../../lib/platform/terminal/terminal';

const MAX_CHARS = 200;

export default class GoalsAdd extends BaseCommand {
  static override summary = 'Add a goal to goals.md';
  static override description =
    'Time in the repositories and on the sites counts for the goal, from the first day recorded. steward records time in watched repositories: "config add sense.repos PATH" adds one. The target is shown beside the time.';
  static override args = { text: word({ required: true, description: 'The goal, in a few words.' }) };
  static override flags = {
    repo: repeatable('Repository whose time counts (name or path); repeatable.', 'NAME'),
    site: repeatable('Site whose time counts, such as docs.rs; repeatable.', 'NAME'),
    target: text({ description: 'What you aim for, such as "10 h a week".', helpValue: 'TEXT' }),
  };
  static override examples = [
    'goals add "Write the book" --repo ~/book',
    'goals add "Ship the new checkout" --repo shop --repo shop-theme --target "10 h a week"',
  ];
  static override related = ['goals', 'time --by goal'];

  async run(): Promise<{ id: string; path: string }> {
    const { args, flags } = await this.parse(GoalsAdd);
    const path = this.context.area.goals;
    const target = flags.target === undefined ? null : cleanLine(flags.target, MAX_CHARS);
    const repos = flags.repo?.map((name) => cleanLine(basename(name), MAX_CHARS));
    const sites = flags.site?.map((site) => checkedSite(site.trim()));
    const id = addGoal(path, { text: cleanLine(args.text, MAX_CHARS), repos, sites, target });
    return this.show({ id, path }, () => `Added ${id} to ${path}. See its time: steward goals`);
  }
}
