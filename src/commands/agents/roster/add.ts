import { MODEL_TIERS, type ModelTier, traitFlag } from '../../../lib/agents/brief';
import { newRosterAgent } from '../../../lib/agents/roster';
import { BaseCommand, text, word } from '../../../lib/cli/base-command';
import { ensureUserArea } from '../../../lib/config/user-area';

const MANY = { multiple: true, multipleNonGreedy: true } as const;

export default class AgentsRosterAdd extends BaseCommand {
  static override summary = 'Create the file for a new named agent';
  static override description =
    "Creates a Markdown file with the role and traits in its front matter. Describe the persona below the front matter. The agent's briefs include the persona.";
  static override args = {
    name: word({ required: true, description: 'File name: lowercase letters, digits, - and _.' }),
  };
  static override flags = {
    role: text({ required: true, description: 'Agent role.', helpValue: 'TEXT' }),
    name: text({ description: 'Display name.', helpValue: 'TEXT' }),
    model: text({ description: 'Model tier.', options: [...MODEL_TIERS] }),
    expertise: text({ ...traitFlag('expertise'), ...MANY, description: 'Expertise; repeatable.' }),
    personality: text({ ...traitFlag('personality'), ...MANY, description: 'Personality; repeatable.' }),
    approach: text({ ...traitFlag('approach'), ...MANY, description: 'Approach; repeatable.' }),
  };
  static override examples = [
    'agents roster add ada --role "security specialist"',
    'agents roster add bo --role "primary researcher" --expertise research --model deep',
  ];
  static override related = ['agents roster list', 'agents roster traits'];

  async run(): Promise<{ slug: string; path: string }> {
    const { args, flags } = await this.parse(AgentsRosterAdd);
    const { area } = this.context;
    ensureUserArea(area);
    const created = newRosterAgent(area.agents, {
      slug: args.name,
      role: flags.role,
      expertise: flags.expertise ?? [],
      personality: flags.personality ?? [],
      approach: flags.approach ?? [],
      name: flags.name,
      model: flags.model as ModelTier | undefined,
    });
    return this.show(created, () => `Created ${created.path}\nDescribe the persona below the front matter.`);
  }
}
