import { StewardError } from '../errors';
import { launchOf, spotcheckOf, type Brief, type BuilderMode, type ModelTier, type Spotcheck } from './brief';
import { briefOfNamed, briefsOf } from './routing-briefs';
import { countOf } from './routing-count';
import { namedAgents } from './routing-named';
import { typeIn } from './routing-looks';
import { RULES } from './routing-rules';
import type { AgentTypes, Asked, NamedAgent, Rule, Worker } from './routing-types';
import { look, type Hit } from './routing-match';
import { readRequest } from './text';

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
