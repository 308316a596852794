import data from '../../../templates/data/routing.json';
import type { UserConfig } from '../config/schema';
import { StewardError } from '../errors';
import {
  composeBriefs,
  launchOf,
  spotcheckOf,
  type Brief,
  type BriefOptions,
  type BuilderMode,
  type ModelTier,
  type Spotcheck,
  traitsIn,
} from './brief';
import { countOf, FINDERS, namedAgents, typeIn, unsuitableForManaged } from './routing-find';
import { look, LOOKS, type Finding, type Hit, type Look } from './routing-match';
import { readRequest, type RequestText } from './text';

/** The agent types as the person's assistant calls them (`agents.types`). */
export type AgentTypes = UserConfig['agents']['types'];

/** An agent of the roster, as far as routing needs it. */
export interface NamedAgent {
  slug: string;
  name: string;
  role: string | null;
  model: ModelTier | null;
  expertise: readonly string[];
  personality: readonly string[];
  approach: readonly string[];
  /** What it is launched with. */
  persona: string;
}

/** What routing needs of the configuration and the roster. */
export interface AgentSettings {
  types: AgentTypes;
  named: readonly NamedAgent[];
  /** Files of the roster that cannot be used. */
  broken?: number;
}

/** Everything that a decision depends on. */
export interface Asked extends AgentSettings {
  request: RequestText;
  /** The request as it was typed, which is what a brief holds. */
  whole: string;
  /** 1 to 5; null where none is given. */
  effort: number | null;
  /** Agents that were asked for by `--count`. */
  count: number | null;
}

export type Worker = 'team' | 'custom' | 'managed' | 'builtin' | 'named' | 'research' | 'native';

/** What a rule decides. */
export interface Outcome {
  worker: Worker;
  /** Null where no agent of the task tool is launched. */
  type: keyof AgentTypes | null;
  model: ModelTier;
  /** The tier whatever the effort and the words of the request. */
  fixedModel?: true;
  mode?: BuilderMode;
  /** Of the briefs; none: no brief unless several agents are asked for. */
  brief?: Pick<BriefOptions, 'role' | 'method' | 'prefer'>;
  /** Work of several at once: a spotcheck comes after it. */
  parallel?: true;
}

/** One line of the table. The first rule, from the top, that finds its words decides. */
export interface Rule {
  id: string;
  from: string;
  /** In words, as `--explain` shows it. */
  says: string;
  gives: Outcome;
  find: (asked: Asked) => Finding;
  /** Why its words do not hold for this request, although they are there; a warning for the person. */
  unsuitable?: (asked: Asked) => string | undefined;
}

/** The table, in the order that decides. A rule looks for the words under its id in `looks`, or has a finder. */
export const RULES: readonly Rule[] = (data.rules as unknown as readonly Rule[]).map((rule) => ({
  ...rule,
  find:
    FINDERS[rule.id] ??
    (({ request }) => look(request, (LOOKS as Readonly<Record<string, Look>>)[rule.id] as Look)),
  ...(rule.id === 'managed' ? { unsuitable: unsuitableForManaged } : {}),
}));

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

/** A rule that was tried, for a person who asks why. */
export interface Considered {
  rule: string;
  from: string;
  says: string;
  outcome: 'decided' | 'no' | 'refused' | 'unsuitable';
  /** The words that it found; null: none. */
  words: string | null;
}

export interface RouteOptions extends AgentSettings {
  /** 1 to 5. */
  effort?: number | undefined;
  /** Agents wanted, 1 to `MAX_BRIEFS`. */
  count?: number | undefined;
}

/** Decides which kind of worker a request goes to, and tells what each rule above said. Pure; never throws. */
export function explainRoute(
  whole: string,
  { effort, count, broken = 0, ...settings }: RouteOptions,
): { decision: Decision; considered: Considered[] } {
  const request = readRequest(whole);
  const asked: Asked = {
    ...settings,
    request,
    whole,
    effort: effort ?? effortIn(request.text),
    count: count ?? null,
  };
  const considered: Considered[] = [];
  const warnings = request.cut ? ['The request is very long: its middle was not looked at.'] : [];
  for (const rule of RULES) {
    const { hit, refused } = rule.find(asked);
    const against = hit === undefined ? undefined : rule.unsuitable?.(asked);
    const { id, from, says } = rule;
    const told = (outcome: Considered['outcome']): void => {
      considered.push({ rule: id, from, says, outcome, words: (hit ?? refused)?.words || null });
    };
    if (hit === undefined) told(refused === undefined ? 'no' : 'refused');
    else if (against !== undefined) {
      told('unsuitable');
      warnings.push(against);
    } else {
      told('decided');
      const decision = decide(rule, hit, asked, warnings);
      const files = broken === 1 ? '1 file of the roster is' : `${broken} files of the roster are`;
      if (broken > 0) warnings.push(`${files} not used: see "steward agents roster check".`);
      return { decision, considered };
    }
  }
  throw new StewardError('internal', 'No rule of the table found the request.');
}

/** At each prompt a hook's words go into the assistant's context: no delegation is not worth a word. */
export function isIdle(decision: Decision, fromHook: boolean): boolean {
  return fromHook && decision.worker === 'native';
}

function decide(rule: Rule, hit: Hit, asked: Asked, warnings: string[]): Decision {
  const { gives } = rule;
  const model = tierOf(rule, asked);
  const several = countOf(rule, hit, asked, warnings);
  const people = rule.id === 'named' ? namedAgents(asked) : [];
  const type = rule.id === 'built-in' ? typeIn(asked.types, hit.words) : typeOf(gives.type, asked.types);
  const briefs =
    people.length > 0
      ? people.map((agent) => briefOfNamed(agent, asked, model))
      : briefsOf(gives, asked, { several, type, model });
  const isParallel = gives.parallel === true || briefs.length > 1;
  const [first] = briefs;
  const launch = launchOf(briefs.length);
  warnings.push(...warningsOf(rule, asked, several));
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
    spotcheck: isParallel ? spotcheckOf(asked.whole, briefs.length, asked.types.general) : null,
    warnings,
  };
}

function typeOf(key: keyof AgentTypes | null, types: AgentTypes): string | null {
  const found = key === null ? null : types[key];
  return typeof found === 'object' ? (found?.[0] ?? null) : found;
}

/** The briefs of what a rule launches, one an agent; none where nothing is launched. */
function briefsOf(
  gives: Outcome,
  { whole, types }: Asked,
  { several, type, model }: { several: number | null; type: string | null; model: ModelTier },
): Brief[] {
  if (gives.worker === 'native' || (gives.brief === undefined && several === null)) return [];
  const subagentType = type ?? types.general;
  const mode = gives.mode === undefined ? {} : { mode: gives.mode };
  const made = composeBriefs(whole, { count: several ?? 1, subagentType, model, ...mode, ...gives.brief });
  const { researchers } = types;
  if (gives.worker !== 'research') return made;
  return made.map((brief, index) => ({
    ...brief,
    subagentType: researchers[index % researchers.length] ?? subagentType,
  }));
}

/** A named agent comes with its own persona; the brief adds the task. Its role says its field, unless it has one. */
function briefOfNamed(agent: NamedAgent, { whole, types }: Asked, tier: ModelTier): Brief {
  const { name, role, persona, personality, approach } = agent;
  const expertise = agent.expertise.length > 0 ? agent.expertise : traitsIn('expertise', role ?? '');
  const [made] = composeBriefs(whole, {
    count: 1,
    subagentType: types.general,
    model: agent.model ?? tier,
    role: role ?? name,
    expertise: expertise.slice(0, 1),
    personality: personality.slice(0, 1),
    approach: approach.slice(0, 1),
  }) as [Brief];
  const own = persona.trim();
  return { ...made, prompt: [`You are ${name}.`, ...(own === '' ? [] : [own]), made.prompt].join('\n') };
}

/** `effort E4` or `E4:` in the request itself. */
function effortIn(text: string): number | null {
  const said = /\beffort:? ?(?:level )?e?([1-5])\b|^\s*e([1-5])\s*[:,-]/.exec(text);
  return said === null ? null : Number(said[1] ?? said[2]);
}

const NAMED_TIER = /\b(fast|balanced|deep) (?:model|tier)\b/;

/** A tier for every task: what the request names, else what the rule fixes, else effort, else words. */
function tierOf({ gives }: Rule, { request, effort }: Asked): ModelTier {
  const named = NAMED_TIER.exec(request.text)?.[1] as ModelTier | undefined;
  if (named !== undefined) return named;
  if (gives.fixedModel === true) return gives.model;
  if (effort !== null && effort >= 4) return 'deep';
  const byWords = (['deep', 'fast'] as const).find(
    (tier) => look(request, { any: [data.patterns[tier]] }).hit !== undefined,
  );
  // Production-grade work is not grunt work, whatever small words stand in it.
  if (byWords === 'fast' && gives.mode === 'build') return gives.model;
  if (byWords !== undefined) return byWords;
  return effort === 1 ? 'fast' : gives.model;
}

function whyOf({ id, from, says }: Rule, { words }: Hit, { effort }: Asked): string {
  if (words === '') return 'No rule of delegation finds its words: the assistant does it itself.';
  const audit =
    id === 'production' && (effort ?? 0) >= 4
      ? ' At this effort a read-only audit by the same type may follow (a prompt that begins with MODE: audit).'
      : '';
  return `"${words}" (${from}). ${says}${audit}`;
}

function warningsOf({ id, gives }: Rule, asked: Asked, several: number | null): string[] {
  const { text } = asked.request;
  const retired = /\b(architect|designer|engineer) (?:sub-?)?(?:agent|type)s?\b/.exec(text)?.[1];
  const isCustom = /\bcustom\b/.test(text) && /\b(?:launch|spawn|delegate|sub-?agents?|agents?)\b/.test(text);
  const all: [boolean, string][] = [
    [
      retired !== undefined,
      `The agent type "${retired}" is retired: the general type with an inline brief takes its place.`,
    ],
    [id === 'audit' && (asked.effort ?? 5) < 4, 'A cross-vendor audit is for effort E4 and E5.'],
    [
      id === 'built-in',
      'Built-in types are for internal work; say "custom agents" for agents with a brief of their own.',
    ],
    [
      gives.worker === 'native' && several !== null && several > 1,
      'No agents are launched, so the count says nothing.',
    ],
    [
      isCustom && id !== 'custom' && id !== 'declined',
      '"custom" is not taken as asking for custom agents here.',
    ],
  ];
  return all.flatMap(([holds, warning]) => (holds ? [warning] : []));
}
