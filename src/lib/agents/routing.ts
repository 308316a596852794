import type { NamedAgent, AgentSettings, RoutingInput, RuleOutcome, Rule } from './routing-find';
import type { AgentTypes } from './check';
import data from '../../../templates/data/routing.json';
import { StewardError } from '../errors';
import { composeBriefs, launchOf, spotcheckOf, type Brief, type ModelTier, traitsIn } from './brief';
import { countOf, FINDERS, namedAgents, typeIn, unsuitableForManaged } from './routing-find';
import { findPattern, PATTERNS_BY_RULE, type Hit, type RulePattern } from './routing-match';
import { plural } from '../platform/terminal/format';
import { readRequest } from './text';

/** The routing rules, in order of precedence. */
export const RULES: readonly Rule[] = (data.rules as unknown as readonly Rule[]).map((rule) => ({
  ...rule,
  find:
    FINDERS[rule.id] ??
    (({ request }) =>
      findPattern(
        request,
        (PATTERNS_BY_RULE as Readonly<Record<string, RulePattern>>)[rule.id] as RulePattern,
      )),
  ...(rule.id === 'managed' ? { unsuitable: unsuitableForManaged } : {}),
}));

/** The result of one rule, for `--explain`. */
export interface Considered {
  rule: string;
  from: string;
  says: string;
  outcome: 'decided' | 'no' | 'refused' | 'unsuitable';
  words: string | null;
}

export interface RouteOptions extends AgentSettings {
  /** Effort level, 1 to 5. */
  effort?: number | undefined;
  /** Number of agents, 1 to `MAX_BRIEFS`. */
  count?: number | undefined;
}

/** Returns the routing decision for a request, and the result of each rule that was tried. */
export function explainRoute(
  whole: string,
  { effort, count, broken = 0, ...settings }: RouteOptions,
): { decision: Decision; considered: Considered[] } {
  const request = readRequest(whole);
  const input: RoutingInput = {
    ...settings,
    request,
    whole,
    effort: effort ?? effortIn(request.text),
    count: count ?? null,
  };
  const considered: Considered[] = [];
  const warnings = request.isCut ? ['The request is very long, so its middle part was ignored.'] : [];
  for (const rule of RULES) {
    const { hit, refused } = rule.find(input);
    const reason = hit === undefined ? undefined : rule.unsuitable?.(input);
    const { id, from, says } = rule;
    const record = (outcome: Considered['outcome']): void => {
      considered.push({ rule: id, from, says, outcome, words: (hit ?? refused)?.words || null });
    };
    if (hit === undefined) record(refused === undefined ? 'no' : 'refused');
    else if (reason !== undefined) {
      record('unsuitable');
      warnings.push(reason);
    } else {
      record('decided');
      const decision = decide(rule, hit, input, warnings);
      if (broken > 0)
        warnings.push(`${plural(broken, 'invalid file')} in the roster; run "steward agents roster list".`);
      return { decision, considered };
    }
  }
  throw new StewardError('internal', 'No routing rule matched.');
}

/**
 * Returns whether to suppress the output. A hook prints only decisions to delegate, because its output uses
 * up the assistant's context.
 */
export function isIdle(decision: Decision, fromHook: boolean): boolean {
  return fromHook && decision.worker === 'native';
}

function decide(rule: Rule, hit: Hit, input: RoutingInput, warnings: string[]) {
  const { gives } = rule;
  const model = tierOf(rule, input);
  const count = countOf(rule, hit, input, warnings);
  const named = rule.id === 'named' ? namedAgents(input) : [];
  const type = rule.id === 'built-in' ? typeIn(input.types, hit.words) : typeOf(gives.type, input.types);
  const briefs =
    named.length > 0
      ? named.map((agent) => briefOfNamed(agent, input, model))
      : briefsOf(gives, input, { count, type, model });
  const isParallel = gives.parallel === true || briefs.length > 1;
  const [first] = briefs;
  const launch = launchOf(briefs.length);
  warnings.push(...warningsOf(rule, input, count));
  return {
    worker: gives.worker,
    /** The agent type for the task tool; null if no agent is launched. */
    subagentType: type,
    model: named[0]?.model ?? model,
    ...(gives.mode === undefined ? {} : { mode: gives.mode }),
    ...(first === undefined ? {} : { brief: first }),
    ...(briefs.length > 1 || (input.count !== null && first !== undefined) ? { briefs } : {}),
    ...(launch === undefined ? {} : { launch }),
    ...(named[0] === undefined ? {} : { agent: named[0].slug }),
    rule: rule.id,
    why: whyOf(rule, hit, input),
    /** The matching words in the request. */
    triggers: hit.words === '' ? [] : [hit.words],
    /** The agent that checks the output of parallel agents; null if no agents work in parallel. */
    spotcheck: isParallel ? spotcheckOf(input.whole, briefs.length, input.types.general) : null,
    warnings,
  };
}

/** The chosen worker for a request, and the reason. */
export type Decision = ReturnType<typeof decide>;

function typeOf(key: keyof AgentTypes | null, types: AgentTypes): string | null {
  const found = key === null ? null : types[key];
  return typeof found === 'object' ? (found?.[0] ?? null) : found;
}

/** Returns a brief for each agent; empty if no agent is launched. */
function briefsOf(
  gives: RuleOutcome,
  { whole, types }: RoutingInput,
  { count, type, model }: { count: number | null; type: string | null; model: ModelTier },
): Brief[] {
  if (gives.worker === 'native' || (gives.brief === undefined && count === null)) return [];
  const subagentType = type ?? types.general;
  const mode = gives.mode === undefined ? {} : { mode: gives.mode };
  const briefs = composeBriefs(whole, { count: count ?? 1, subagentType, model, ...mode, ...gives.brief });
  const { researchers } = types;
  if (gives.worker !== 'research') return briefs;
  return briefs.map((brief, index) => ({
    ...brief,
    subagentType: researchers[index % researchers.length] ?? subagentType,
  }));
}

/** Returns a named agent's brief. If the agent has no expertise, derives one from the agent's role. */
function briefOfNamed(agent: NamedAgent, { whole, types }: RoutingInput, tier: ModelTier): Brief {
  const { name, role, persona, personality, approach } = agent;
  const expertise = agent.expertise.length > 0 ? agent.expertise : traitsIn('expertise', role ?? '');
  const [composed] = composeBriefs(whole, {
    count: 1,
    subagentType: types.general,
    model: agent.model ?? tier,
    role: role ?? name,
    expertise: expertise.slice(0, 1),
    personality: personality.slice(0, 1),
    approach: approach.slice(0, 1),
  }) as [Brief];
  const own = persona.trim();
  return {
    ...composed,
    prompt: [`You are ${name}.`, ...(own === '' ? [] : [own]), composed.prompt].join('\n'),
  };
}

/** Returns the effort level in a phrase such as `effort E4` or `E4:`. */
function effortIn(text: string): number | null {
  const found = /\beffort:? ?(?:level )?e?([1-5])\b|^\s*e([1-5])\s*[:,-]/.exec(text);
  return found === null ? null : Number(found[1] ?? found[2]);
}

const NAMED_TIER = /\b(fast|balanced|deep) (?:model|tier)\b/;

/** Returns the model tier that the request names, or the tier implied by the rule, effort or wording. */
function tierOf({ gives }: Rule, { request, effort }: RoutingInput): ModelTier {
  const named = NAMED_TIER.exec(request.text)?.[1] as ModelTier | undefined;
  if (named !== undefined) return named;
  if (gives.fixedModel === true) return gives.model;
  if (effort !== null && effort >= 4) return 'deep';
  const byWords = (['deep', 'fast'] as const).find(
    (tier) => findPattern(request, { any: [data.patterns[tier]] }).hit !== undefined,
  );
  // Words in the request can't select the fast tier for production-grade work.
  if (byWords === 'fast' && gives.mode === 'build') return gives.model;
  if (byWords !== undefined) return byWords;
  return effort === 1 ? 'fast' : gives.model;
}

function whyOf({ id, from, says }: Rule, { words }: Hit, { effort }: RoutingInput): string {
  if (words === '') return 'No rule matched; the assistant does the work itself.';
  const audit =
    id === 'production' && (effort ?? 0) >= 4
      ? ' Afterwards, consider a read-only audit by the same agent type (start its prompt with "MODE: audit").'
      : '';
  return `"${words}" (${from}). ${says}${audit}`;
}

function warningsOf({ id, gives }: Rule, input: RoutingInput, count: number | null): string[] {
  const { text } = input.request;
  const retired = /\b(architect|designer|engineer) (?:sub-?)?(?:agent|type)s?\b/.exec(text)?.[1];
  const isCustom = /\bcustom\b/.test(text) && /\b(?:launch|spawn|delegate|sub-?agents?|agents?)\b/.test(text);
  const all: [boolean, string][] = [
    [
      retired !== undefined,
      `The agent type "${retired}" is retired; use the general type with an inline brief.`,
    ],
    [id === 'audit' && (input.effort ?? 5) < 4, 'A cross-vendor audit requires effort E4 or E5.'],
    [
      id === 'built-in',
      'Built-in agents are for internal work. For your own briefs, ask for "custom agents".',
    ],
    [
      gives.worker === 'native' && count !== null && count > 1,
      'No agents are launched, so the count is ignored.',
    ],
    [
      isCustom && id !== 'custom' && id !== 'declined',
      '"custom" was not interpreted as a request for custom agents.',
    ],
  ];
  return all.flatMap(([holds, warning]) => (holds ? [warning] : []));
}
