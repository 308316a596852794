import { batchOf, MODEL_TIERS, type BriefBatch, type ModelTier, traitFlag } from '../../lib/agents/brief';
import { briefsText } from '../../lib/agents/view';
import { parseCount, requestOf } from '../../lib/agents/input';
import { agentSettings } from '../../lib/app/agents';
import { BaseCommand, text, word } from '../../lib/cli/base-command';

export default class AgentsBrief extends BaseCommand {
  static override summary = 'Write briefs for custom agents';
  static override description =
    'Writes a unique brief (role, perspective, voice) for each agent, from the request and the trait vocabulary. Launch all agents in one message, then launch the spotcheck agent (printed last) to compare their results.';
  static override args = {
    request: word({ description: 'The request, in quotes (default: stdin).' }),
  };
  static override flags = {
    count: text({ description: 'Number of briefs, 1 to 32.', default: '1', helpValue: 'N' }),
    role: text({ description: 'Role for all agents.', helpValue: 'TEXT' }),
    expertise: text({ ...traitFlag('expertise'), description: 'Expertise for all agents.' }),
    personality: text({ ...traitFlag('personality'), description: 'Personality for all agents.' }),
    approach: text({ ...traitFlag('approach'), description: 'Approach for all agents.' }),
    model: text({ description: 'Model tier.', options: [...MODEL_TIERS], default: 'balanced' }),
  };
  static override examples = [
    'agents brief "review the pricing page" --count 3',
    'agents brief "read the lease" --expertise legal --personality skeptical',
  ];
  static override related = ['agents roster traits', 'agents route REQUEST', 'agents check FILE'];

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
