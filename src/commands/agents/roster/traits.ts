import { TRAIT_FAMILIES } from '../../../lib/agents/brief';
import { traitsText } from '../../../lib/agents/view';
import { BaseCommand } from '../../../lib/cli/base-command';

export default class AgentsRosterTraits extends BaseCommand {
  static override summary = 'Show the vocabulary for briefs: expertise, personality, approach';
  static override examples = ['agents roster traits', `agents roster traits --json | jq '.expertise[].id'`];
  static override related = ['agents brief REQUEST', 'agents roster add NAME'];

  async run(): Promise<typeof TRAIT_FAMILIES> {
    return this.show(TRAIT_FAMILIES, () => traitsText(this.terminal));
  }
}
