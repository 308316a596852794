import {
  KNOWLEDGE_TYPES,
  MAX_RESULTS,
  searchKnowledge,
  type KnowledgeResult,
  type KnowledgeType,
} from '../../../lib/agents/knowledge';
import { knowledgeText } from '../../../lib/agents/view';
import { BaseCommand, limit, text, word } from '../../../lib/cli/base-command';
import { definedOnly } from '../../../lib/platform/files/json-object';

export default class AgentsKnowledgeSearch extends BaseCommand {
  static override summary = 'Search the knowledge archive: people, companies, ideas, research';
  static override description =
    'Finds entries that contain every word, ignoring case and accents. Matches in titles and tags come first. Entries are Markdown files in knowledge/TYPE in the user area. An entry\'s tags come from "tags" or "topics" in its front matter.';
  static override args = {
    words: word({ description: 'Words to find, in quotes (default: all entries).' }),
  };
  static override flags = {
    type: text({ description: 'Only entries of this type.', options: [...KNOWLEDGE_TYPES] }),
    tag: text({ description: 'Only entries with this tag.', helpValue: 'TOPIC' }),
    limit: limit(`Maximum number of results, 1 to ${MAX_RESULTS}.`, 20, MAX_RESULTS),
  };
  static override examples = [
    'agents knowledge search "battery recycling"',
    'agents knowledge search --type people --tag physics --json',
  ];
  static override related = ['agents knowledge show ID'];

  async run(): Promise<KnowledgeResult> {
    const { args, flags } = await this.parse(AgentsKnowledgeSearch);
    const folder = this.context.area.knowledge;
    const result = searchKnowledge(folder, {
      text: args.words ?? '',
      limit: flags.limit,
      ...definedOnly({ type: flags.type as KnowledgeType | undefined, tag: flags.tag }),
    });
    return this.show(result, () => knowledgeText(result, folder, this.terminal));
  }
}
