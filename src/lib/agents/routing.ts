import type { UserConfig } from '../config/schema';
import { StewardError } from '../errors';
import {
  type Brief,
  type BuilderMode,
  type ModelTier,
  type Preferred,
  type Spotcheck,
  composeBriefs,
  launchOf,
  spotcheckOf,
} from './brief';
import {
  ARCHITECTURE,
  CUSTOM,
  MANAGED,
  RESEARCH,
  RULE_2,
  TEAM_NAMED,
  TOOL_GUIDE,
  countOf,
  findAudit,
  findCode,
  findDeclined,
  findNamed,
  findParallel,
  findProduction,
  findType,
  namedAgents,
  typeIn,
  unsuitableForManaged,
} from './routing-find';
import { type Finding, type Hit, type Look, look } from './routing-match';
import { type RequestText, readRequest } from './text';
import type { Approach, Expertise, Personality } from './traits';

/** Where a piece of work goes, and why. */
export interface Decision {
  worker: Worker;
  /** What the task tool is called with; null where it is not called. */
  subagentType: string | null;
  model: ModelTier;
  /** Of the cross-vendor builder only. */
  mode?: BuilderMode;
  /** The first of the briefs. */
  brief?: Brief;
  /** One an agent, where several are asked for. */
  briefs?: Brief[];
  /** How to launch several: all in one message. */
  launch?: string;
  /** Slug of the named agent. */
  agent?: string;
  /** Id of the rule that decided. */
  rule: string;
  why: string;
  /** The words of the request that triggered the rule. */
  triggers: string[];
  /** To be launched after parallel work; null where nothing is parallel. */
  spotcheck: Spotcheck | null;
  warnings: string[];
}

/** A rule that was looked at, for a person who asks why. */
export interface Considered {
  rule: string;
  from: string;
  says: string;
  outcome: 'decided' | 'no' | 'refused' | 'unsuitable';
  /** The words that it found; null: none. */
  words: string | null;
}

export interface RouteOptions {
  /** 1 to 5. */
  effort?: number;
  /** Agents wanted, 1 to `MAX_BRIEFS`. */
  count?: number;
  types: AgentTypes;
  named: readonly NamedAgent[];
}

/** Decides which kind of worker a request goes to. Pure; never throws. */
export function route(request: string, options: RouteOptions): Decision {
  return explainRoute(request, options).decision;
}

/** The decision, and what each rule above it said. */
export function explainRoute(
  request: string,
  options: RouteOptions,
): { decision: Decision; considered: Considered[] } {
  const text = readRequest(request);
  const asked: Asked = {
    request: text,
    whole: request,
    effort: options.effort ?? effortIn(text.text),
    count: options.count ?? null,
    named: options.named,
    types: options.types,
  };
  const considered: Considered[] = [];
  const warnings = text.cut ? ['The request is very long: its middle was not looked at.'] : [];
  for (const rule of RULES) {
    const { hit, refused } = rule.find(asked);
    const against = hit === undefined ? undefined : rule.unsuitable?.(asked);
    const { id, from, says } = rule;
    const said = (outcome: Considered['outcome'], words: string | undefined): void => {
      considered.push({
        rule: id,
        from,
        says,
        outcome,
        words: words === undefined || words === '' ? null : words,
      });
    };
    if (hit === undefined) said(refused === undefined ? 'no' : 'refused', refused?.words);
    else if (against !== undefined) {
      said('unsuitable', hit.words);
      warnings.push(against);
    } else {
      said('decided', hit.words);
      return { decision: decide(rule, hit, asked, { request, warnings }), considered };
    }
  }
  throw new StewardError('internal', 'No rule of the table found the request.');
}

interface Given {
  request: string;
  warnings: string[];
}

function decide(rule: Rule, hit: Hit, asked: Asked, given: Given): Decision {
  const { gives } = rule;
  const model = tierOf(rule, asked);
  const several = countOf(rule, hit, asked, given.warnings);
  const people = rule.id === 'named' ? namedAgents(asked) : [];
  const type = rule.id === 'built-in' ? typeIn(asked.types, hit.words) : gives.type(asked.types);
  const briefs =
    people.length > 0
      ? people.map((agent) => briefOfNamed(agent, given.request, asked, model))
      : briefsOf(rule, asked, given.request, { several, type, model });
  const isParallel = gives.parallel === true || briefs.length > 1;
  const first = briefs[0];
  const launch = launchOf(briefs.length);
  given.warnings.push(...warningsOf(rule, asked, several));
  return {
    worker: gives.worker,
    subagentType: type,
    model: people[0]?.model ?? model,
    ...(gives.mode === undefined ? {} : { mode: gives.mode }),
    ...(first === undefined ? {} : { brief: first }),
    ...(briefs.length > 1 || (asked.count !== null && first !== undefined) ? { briefs } : {}),
    ...(launch === undefined ? {} : { launch }),
    ...(people[0] === undefined ? {} : { agent: people[0].slug }),
    rule: rule.id,
    why: whyOf(rule, hit, asked),
    triggers: hit.words === '' ? [] : [hit.words],
    spotcheck: isParallel ? spotcheckOf(given.request, briefs.length, asked.types.general) : null,
    warnings: given.warnings,
  };
}

/** `effort E4` or `E4:` in the request itself. */
function effortIn(text: string): number | null {
  const said = /\beffort:? ?(?:level )?e?([1-5])\b|^\s*e([1-5])\s*[:,-]/.exec(text);
  return said === null ? null : Number(said[1] ?? said[2]);
}

const TIERS: readonly { model: ModelTier; any: RegExp }[] = [
  { model: 'deep', any: /\b(?:trade-?offs?|strateg(?:y|ic)|prove|proof|root cause|deep(?:ly)?|very hard|complex|threat models?|security audit|race conditions?|deadlocks?|think hard|reason (?:about|through)|architecture)\b/g },
  { model: 'fast', any: /\b(?:check|verify|list|count|rename|re-?format|sort|spell-?check|look up|grep|typos?|quick(?:ly)?|simple|trivial|grunt work|boilerplate)\b/g },
]; // prettier-ignore
const NAMED_TIER = /\b(fast|balanced|deep) (?:model|tier)\b/;

/** Rule 10: a tier for every task. What the request names, else what the rule fixes, else effort, else words. */
function tierOf(rule: Rule, { request, effort }: Asked): ModelTier {
  const named = NAMED_TIER.exec(request.text)?.[1] as ModelTier | undefined;
  if (named !== undefined) return named;
  if (rule.gives.fixedModel === true) return rule.gives.model;
  if (effort !== null && effort >= 4) return 'deep';
  const byWords = TIERS.find(
    ({ any }) => look(request, { stems: [''], any: () => [any] }).hit !== undefined,
  )?.model;
  // Production-grade work is not grunt work, whatever small words stand in it.
  if (byWords === 'fast' && rule.gives.mode === 'build') return rule.gives.model;
  if (byWords !== undefined) return byWords;
  return effort === 1 ? 'fast' : rule.gives.model;
}

function whyOf(rule: Rule, hit: Hit, asked: Asked): string {
  const audit =
    rule.id === 'production' && (asked.effort ?? 0) >= 4
      ? ' At this effort a read-only audit by the same type may follow (a prompt that begins with MODE: audit).'
      : '';
  if (hit.words === '') return 'No rule of delegation finds its words: the assistant does it itself.';
  return `"${hit.words}" (${rule.from}). ${rule.says}${audit}`;
}

const RETIRED = /\b(architect|designer|engineer) (?:sub-?)?(?:agent|type)s?\b/;

function warningsOf(rule: Rule, asked: Asked, several: number | null): string[] {
  const { text } = asked.request;
  const retired = RETIRED.exec(text)?.[1];
  const custom =
    /\bcustom\b/.test(text) &&
    rule.id !== 'custom' &&
    /\b(?:launch|spawn|delegate|sub-?agents?|agents?)\b/.test(text);
  return [
    ...(retired === undefined
      ? []
      : [`The agent type "${retired}" is retired: the general type with an inline brief takes its place.`]),
    ...(rule.id === 'audit' && (asked.effort ?? 5) < 4
      ? ['A cross-vendor audit is for effort E4 and E5.']
      : []),
    ...(rule.id === 'built-in'
      ? ['Built-in types are for internal work; say "custom agents" for agents with a brief of their own.']
      : []),
    ...(rule.gives.worker === 'native' && several !== null && several > 1
      ? ['No agents are launched, so the count says nothing.']
      : []),
    ...(custom && rule.id !== 'declined' ? ['"custom" is not taken as asking for custom agents here.'] : []),
  ];
}

/** The agent types as the person's assistant calls them (`agents.types`). */
export type AgentTypes = UserConfig['agents']['types'];

/** An agent of the roster, as far as routing needs it. */
export interface NamedAgent {
  slug: string;
  name: string;
  role: string | null;
  model: ModelTier | null;
  expertise: readonly Expertise[];
  personality: readonly Personality[];
  approach: readonly Approach[];
  /** What it is launched with: its persona. */
  persona: string;
}

/** Everything that a decision depends on. */
export interface Asked {
  request: RequestText;
  /** The request as it was typed, which is what a brief holds. */
  whole: string;
  /** 1 to 5; null where nobody said. */
  effort: number | null;
  /** Agents that were asked for by `--count`. */
  count: number | null;
  named: readonly NamedAgent[];
  types: AgentTypes;
}

export type Worker = 'team' | 'custom' | 'managed' | 'builtin' | 'named' | 'research' | 'native';

/** What a rule decides. */
export interface Outcome {
  worker: Worker;
  /** Null where no agent of the task tool is launched. */
  type: (types: AgentTypes) => string | null;
  model: ModelTier;
  /** The tier whatever the effort and the words of the request. */
  fixedModel?: true;
  mode?: BuilderMode;
  /** Of the briefs; none: no brief unless several agents are asked for. */
  brief?: { role?: string; method?: string; prefer?: Preferred };
  /** Work of several at once: a spotcheck comes after it. */
  parallel?: true;
}

/** One line of the table. The first rule, from the top, that finds its words decides. */
export interface Rule {
  id: string;
  /** Where service.md says it: a number of "Agent routing rules"; or what else makes it so. */
  from: string;
  /** In words, as `--explain` shows it. */
  says: string;
  find: (asked: Asked) => Finding;
  gives: Outcome;
  /** Why its words do not hold for this request, although they are there; a warning for the person. */
  unsuitable?: (asked: Asked) => string | undefined;
}

const general = (types: AgentTypes): string => types.general;
const none = (): null => null;
const words = (wanted: Look) => (asked: Asked) => look(asked.request, wanted);

const ENGINEER: Preferred = {
  expertise: ['technical'],
  personality: ['meticulous'],
  approach: ['systematic'],
};
const TEST_DRIVEN =
  'Work test-driven: first a test that fails for the right reason, then the smallest change that makes it pass, then clean up. Run the tests before you report.';
const PRODUCTION_METHOD = `${TEST_DRIVEN} No shortcuts: errors handled, limits tested, no placeholder left.`;

/** The table, in the order that decides. To add a rule, add an entry where it stands in that order. */
export const RULES: readonly Rule[] = [
  {
    id: 'custom',
    from: 'rule 1',
    says: 'The word custom, said of agents: one inline brief an agent, each launched with the general type.',
    find: words(CUSTOM),
    gives: { worker: 'custom', type: general, model: 'balanced', brief: {} },
  },
  {
    id: 'named',
    from: 'rule 4',
    says: 'An agent of your roster is named: that agent, with its own persona.',
    find: findNamed,
    gives: { worker: 'named', type: general, model: 'balanced' },
  },
  {
    id: 'agent-team',
    from: 'rule 9.1',
    says: 'An agent team is asked for by name.',
    find: words(TEAM_NAMED),
    gives: { worker: 'team', type: general, model: 'balanced', parallel: true },
  },
  {
    id: 'managed',
    from: 'rules 9.3 and 12',
    says: 'Unattended, overnight, in CI, for hours, in a sandbox or beyond a disconnect: a hosted managed agent; not for interactive work, under 30 minutes, or with your own context.',
    find: words(MANAGED),
    gives: { worker: 'managed', type: none, model: 'balanced', brief: {} },
    unsuitable: unsuitableForManaged,
  },
  {
    id: 'built-in',
    from: 'rule 9.4',
    says: 'A built-in type of the task tool is asked for by name.',
    find: findType,
    gives: { worker: 'builtin', type: general, model: 'balanced' },
  },
  {
    id: 'declined',
    from: 'your word',
    says: 'The request wants no agents: no delegation.',
    find: findDeclined,
    gives: { worker: 'native', type: none, model: 'balanced' },
  },
  {
    id: 'research',
    from: 'rule 3',
    says: 'Research X, or investigate Y: the research skill and its researchers.',
    find: words(RESEARCH),
    gives: {
      worker: 'research',
      type: ({ researchers }) => researchers[0] ?? null,
      model: 'balanced',
      brief: {
        role: 'researcher',
        method: 'Name the source of every claim, and say how far you trust it.',
        prefer: { expertise: ['research'], personality: ['analytical'], approach: ['thorough'] },
      },
    },
  },
  {
    id: 'tool-guide',
    from: 'rule 8',
    says: "A question about the assistant's hooks, settings, commands, MCP, agents or API: the tool guide.",
    find: words(TOOL_GUIDE),
    gives: {
      worker: 'builtin',
      type: ({ toolGuide }) => toolGuide,
      model: 'balanced',
      brief: {
        role: 'guide to the assistant tool',
        method: 'Verify the latest features in its current documentation before you answer.',
        prefer: { expertise: ['technical'], personality: ['meticulous'], approach: ['rapid'] },
      },
    },
  },
  {
    id: 'audit',
    from: 'rule 6',
    says: 'A cross-vendor audit, or an audit at effort E4 or E5: the builder, read-only.',
    find: findAudit,
    gives: {
      worker: 'builtin',
      type: ({ builder }) => builder,
      model: 'deep',
      fixedModel: true,
      mode: 'audit',
      brief: {
        role: 'auditor',
        method:
          'Change nothing. Report each finding with its place, its evidence and how severe it is, the worst first, and say what you did not look at.',
        prefer: { expertise: ['technical'], personality: ['skeptical'], approach: ['adversarial'] },
      },
    },
  },
  {
    id: 'production',
    from: 'rule 6',
    says: 'Production-grade code (effort E3 and up, no shortcuts, or the builder is named): the builder in build mode.',
    find: findProduction,
    gives: {
      worker: 'builtin',
      type: ({ builder }) => builder,
      model: 'balanced',
      mode: 'build',
      brief: { role: 'senior engineer', method: PRODUCTION_METHOD, prefer: ENGINEER },
    },
  },
  {
    id: 'architecture',
    from: 'rule 7',
    says: 'Architecture or design of a system: the general type with a system-design brief.',
    find: words(ARCHITECTURE),
    gives: {
      worker: 'builtin',
      type: general,
      model: 'deep',
      fixedModel: true,
      brief: {
        role: 'system architect',
        method:
          'Design before code: requirements and limits first, then two or three options with their trade-offs, then one recommendation, its interfaces, and what would make it wrong.',
        prefer: { expertise: ['technical'], personality: ['analytical'], approach: ['comparative'] },
      },
    },
  },
  {
    id: 'code',
    from: 'rule 5',
    says: 'Code: the general type with the brief of a senior engineer who works test-driven.',
    find: findCode,
    gives: {
      worker: 'builtin',
      type: general,
      model: 'balanced',
      brief: { role: 'senior engineer', method: TEST_DRIVEN, prefer: ENGINEER },
    },
  },
  {
    id: 'agents',
    from: 'rule 2',
    says: 'Agents, specialized agents, launch agents, parallel agents: inline briefs, one a perspective.',
    find: words(RULE_2),
    gives: { worker: 'custom', type: general, model: 'balanced', brief: {} },
  },
  {
    id: 'parallel',
    from: 'rule 9.1',
    says: 'Other parallel work, or work with dependencies: an agent team.',
    find: findParallel,
    gives: { worker: 'team', type: general, model: 'balanced', parallel: true },
  },
  {
    id: 'native',
    from: 'otherwise',
    says: 'Everything else: no delegation.',
    find: () => ({ hit: { words: '', at: 0, length: 0 } }),
    gives: { worker: 'native', type: none, model: 'balanced' },
  },
];

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
