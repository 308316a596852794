import { TRAIT_FAMILIES } from '../../../lib/agents/brief';
import { traitsText } from '../../../lib/agents/view';
import { BaseCommand } from '../../../lib/cli/base-command';

export default class AgentsRosterTraits extends BaseCommand {
  static override summary = 'Show the vocabulary for briefs: expertise, personality, approach';
  static override examples = [
    '<%= config.bin %> agents roster traits',
    `<%= config.bin %> agents roster traits --json | jq '.expertise[].id'`,
  ];
  static override related = ['agents brief REQUEST', 'agents roster add NAME'];

  async run(): Promise<typeof TRAIT_FAMILIES> {
    await this.parse(AgentsRosterTraits);
    return this.show(TRAIT_FAMILIES, () => traitsText(this.terminal));
  }
}
