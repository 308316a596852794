import { TRAIT_FAMILIES } from '../../lib/agents/brief';
import { traitsText } from '../../lib/agents/view';
import { BaseCommand } from '../../lib/cli/base-command';

export default class AgentsTraits extends BaseCommand {
  static override summary = 'Show the vocabulary for briefs: expertise, personality, approach';
  static override examples = [
    '<%= config.bin %> agents traits',
    `<%= config.bin %> agents traits --json | jq '.expertise[].id'`,
  ];
  static override related = ['agents brief REQUEST', 'agents roster new NAME'];

  async run(): Promise<typeof TRAIT_FAMILIES> {
    await this.parse(AgentsTraits);
    return this.show(TRAIT_FAMILIES, () => traitsText(this.terminal));
  }
}
