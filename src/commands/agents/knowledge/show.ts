import { showKnowledge, type KnowledgeEntry } from '../../../lib/agents/knowledge';
import { entryText } from '../../../lib/agents/view';
import { BaseCommand, word } from '../../../lib/cli/base-command';

export default class AgentsKnowledgeShow extends BaseCommand {
  static override summary = 'Show an entry from the knowledge archive';
  static override args = {
    id: word({
      required: true,
      description: 'Entry, as TYPE/NAME, NAME or a unique prefix of NAME.',
    }),
  };
  static override examples = [
    'agents knowledge show people/ada-lovelace',
    'agents knowledge show ada --json',
  ];
  static override related = ['agents knowledge search WORDS'];

  async run(): Promise<KnowledgeEntry> {
    const { args } = await this.parse(AgentsKnowledgeShow);
    const entry = showKnowledge(this.context.area.knowledge, args.id);
    return this.show(entry, () => entryText(entry, this.terminal));
  }
}
