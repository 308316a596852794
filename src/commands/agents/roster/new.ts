import { MODEL_TIERS, type ModelTier } from '../../../lib/agents/brief';
import { newRosterAgent } from '../../../lib/agents/roster';
import { traitIds } from '../../../lib/agents/traits';
import { BaseCommand, text, word } from '../../../lib/cli/base-command';
import { ensureUserArea } from '../../../lib/config/user-area';

export default class AgentsRosterNew extends BaseCommand {
  static override summary = 'Write the file of a new named agent, for you to go on with.';
  static override description =
    'A Markdown file with the persona as front matter. Only the assistant has a speaking voice, so there is no key for one.';
  static override args = {
    name: word({ required: true, description: 'Small letters, digits, - and _.' }),
  };
  static override flags = {
    role: text({ required: true, description: 'What it is.', helpValue: 'TEXT' }),
    name: text({ description: 'Its name as it is written.', helpValue: 'TEXT' }),
    model: text({ description: 'The model tier.', options: [...MODEL_TIERS] }),
    expertise: text({ description: 'Can be given again.', multiple: true, multipleNonGreedy: true, options: traitIds('expertise'), helpValue: 'TRAIT' }),
    personality: text({ description: 'Can be given again.', multiple: true, multipleNonGreedy: true, options: traitIds('personality'), helpValue: 'TRAIT' }),
    approach: text({ description: 'Can be given again.', multiple: true, multipleNonGreedy: true, options: traitIds('approach'), helpValue: 'TRAIT' }),
  }; // prettier-ignore
  static override examples = [
    '<%= config.bin %> agents roster new ada --role "security specialist"',
    '<%= config.bin %> agents roster new bo --role "primary researcher" --expertise research --model deep',
  ];
  static override related = ['agents roster list', 'agents roster check', 'agents traits'];

  async run(): Promise<{ slug: string; path: string }> {
    const { args, flags } = await this.parse(AgentsRosterNew);
    const { area } = this.context;
    ensureUserArea(area);
    const made = newRosterAgent(area.agents, {
      slug: args.name,
      role: flags.role,
      expertise: flags.expertise ?? [],
      personality: flags.personality ?? [],
      approach: flags.approach ?? [],
      name: flags.name,
      model: flags.model as ModelTier | undefined,
    });
    this.print(() => `${made.path}\nWrite below the front matter who this is.`);
    return made;
  }
}
