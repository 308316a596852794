import { batchOf, MODEL_TIERS, type BriefBatch, type ModelTier } from '../../lib/agents/brief';
import { traitIds } from '../../lib/agents/traits';
import { briefsText } from '../../lib/agents/view';
import { parseCount, requestOf } from '../../lib/agents/input';
import { agentSettings } from '../../lib/app/agents';
import { BaseCommand, text, word } from '../../lib/cli/base-command';

export default class AgentsBrief extends BaseCommand {
  static override summary = 'Write briefs for custom agents: role, perspective and voice.';
  static override description =
    'Composed from the trait vocabulary and the words of the request: the same request gives the same briefs, and no two are alike. A trait that is given is in all of them. Launch them with the general type, all in one message, and after several of them the spotcheck.';
  static override args = {
    request: word({ description: 'What is to be done, in quotes; else from stdin.' }),
  };
  static override flags = {
    count: text({ description: 'So many, 1 to 32.', default: '1', helpValue: 'N' }),
    role: text({ description: 'What each of them is.', helpValue: 'TEXT' }),
    expertise: text({ description: 'What they know.', options: traitIds('expertise'), helpValue: 'TRAIT' }),
    personality: text({ description: 'How they are.', options: traitIds('personality'), helpValue: 'TRAIT' }),
    approach: text({ description: 'How they work.', options: traitIds('approach'), helpValue: 'TRAIT' }),
    model: text({ description: 'The model tier.', options: [...MODEL_TIERS], default: 'balanced' }),
  };
  static override examples = [
    '<%= config.bin %> agents brief "review the pricing page" --count 3',
    '<%= config.bin %> agents brief "read the lease" --expertise legal --personality skeptical',
  ];
  static override related = ['agents traits', 'agents route REQUEST', 'agents check FILE'];

  async run(): Promise<BriefBatch> {
    const { args, flags } = await this.parse(AgentsBrief);
    const { types } = await agentSettings(this.context);
    const count = parseCount(flags.count);
    const { request } = await requestOf(args.request);
    const batch = batchOf(request, {
      count,
      subagentType: types.general,
      model: flags.model as ModelTier,
      ...(flags.role === undefined ? {} : { role: flags.role }),
      ...(flags.expertise === undefined ? {} : { expertise: [flags.expertise] }),
      ...(flags.personality === undefined ? {} : { personality: [flags.personality] }),
      ...(flags.approach === undefined ? {} : { approach: [flags.approach] }),
    });
    return this.show(batch, () => briefsText(batch, this.terminal));
  }
}
