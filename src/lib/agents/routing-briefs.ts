import { composeBriefs, type Brief, type ModelTier } from './brief';
import type { Asked, NamedAgent, Rule } from './routing-types';

/** The briefs of what a rule launches, one an agent; none where nothing is launched. */
export function briefsOf(
  rule: Rule,
  asked: Asked,
  request: string,
  { several, type, model }: { several: number | null; type: string | null; model: ModelTier },
): Brief[] {
  const { gives } = rule;
  if (gives.worker === 'native' || (gives.brief === undefined && several === null)) return [];
  const subagentType = type ?? asked.types.general;
  const mode = gives.mode === undefined ? {} : { mode: gives.mode };
  const made = composeBriefs(request, { count: several ?? 1, subagentType, model, ...mode, ...gives.brief });
  const { researchers } = asked.types;
  if (gives.worker !== 'research') return made;
  return made.map((brief, index) => ({
    ...brief,
    subagentType: researchers[index % researchers.length] ?? subagentType,
  }));
}

/** A named agent comes with its own persona; the brief adds the task. */
export function briefOfNamed(agent: NamedAgent, request: string, asked: Asked, tier: ModelTier): Brief {
  const model = agent.model ?? tier;
  const [made] = composeBriefs(request, {
    count: 1,
    subagentType: asked.types.general,
    model,
    role: agent.role ?? agent.name,
    expertise: agent.expertise.slice(0, 1),
    personality: agent.personality.slice(0, 1),
    approach: agent.approach.slice(0, 1),
  }) as [Brief];
  const persona = agent.persona.trim();
  return {
    ...made,
    prompt: [`You are ${agent.name}.`, ...(persona === '' ? [] : [persona]), made.prompt].join('\n'),
  };
}
