import { clean } from '../platform/terminal/terminal';
import { MAX_BRIEFS, MODEL_TIERS, SILENCE } from './brief';
import type { Invocation } from './invocation';
import type { AgentTypes } from './routing-types';

/** A rule that an invocation breaks. */
export interface Breach {
  /** Which of the invocations, from 1; null: all of them together. */
  invocation: number | null;
  rule: string;
  message: string;
  fix: string;
}

export interface CheckReport {
  ok: boolean;
  invocations: number;
  breaches: Breach[];
}

const RETIRED = new Set(['architect', 'designer', 'engineer']);

/** Names every rule that the invocations break. Pure. */
export function checkInvocations(
  invocations: readonly Invocation[],
  types: AgentTypes,
  named: readonly string[] = [],
): CheckReport {
  const breaches = [
    ...invocations.flatMap((invocation, index) =>
      CHECKS.flatMap((check) => {
        const found = check.breaks(invocation, types, named);
        return found === undefined ? [] : [{ invocation: index + 1, rule: check.rule, ...found }];
      }),
    ),
    ...together(invocations, types),
  ];
  return { ok: breaches.length === 0, invocations: invocations.length, breaches };
}

type Found = Pick<Breach, 'message' | 'fix'> | undefined;

interface Check {
  rule: string;
  breaks: (one: Invocation, types: AgentTypes, named: readonly string[]) => Found;
}

const isManaged = ({ worker }: Invocation): boolean => worker === 'managed';

/** One entry a rule. */
const CHECKS: readonly Check[] = [
  {
    rule: 'missing-type',
    breaks: (one) => one.subagentType !== null || isManaged(one) || one.worker === 'native' ? undefined : { message: 'It has no subagent_type.', fix: 'Ask "steward agents route" for the type.' },
  },
  {
    rule: 'retired-type',
    breaks: ({ subagentType }, types) => isRetired(subagentType, types) ? { message: `The agent type ${shown(subagentType)} is retired.`, fix: `Use ${types.general} with an inline brief.` } : undefined,
  },
  {
    rule: 'unknown-type',
    breaks: ({ subagentType }, types, named) =>
      subagentType === null || isRetired(subagentType, types) || typesOf(types).includes(subagentType) || named.includes(subagentType.toLowerCase())
        ? undefined
        : { message: `Nobody knows an agent type ${shown(subagentType)}.`, fix: `The types are ${typesOf(types).join(', ')}; agents.types in config.yaml renames them, and "steward agents roster new NAME" adds one of yours.` },
  },
  {
    rule: 'bare-type',
    breaks: (one, types) => {
      if (one.worker !== 'custom' || one.subagentType === null || isRetired(one.subagentType, types)) return undefined;
      if (one.subagentType !== types.general) return { message: `A custom agent is launched as ${shown(one.subagentType)}; a static built-in type is never a custom agent.`, fix: `Launch it as ${types.general} with its own brief.` };
      const missing = BRIEF_PARTS.filter(({ any }) => !any.test(one.prompt)).map(({ part }) => part);
      return missing.length === 0 ? undefined : { message: `Its brief has no ${missing.join(', no ')}.`, fix: 'Let "steward agents brief" write it.' };
    },
  },
  {
    rule: 'missing-tier',
    breaks: ({ model, worker }) => model !== null || worker === 'native' ? undefined : { message: 'It has no model tier.', fix: `Choose ${MODEL_TIERS.join(', ')}.` },
  },
  {
    rule: 'unknown-tier',
    breaks: (one) => one.model === null || one.isCall || isManaged(one) || (MODEL_TIERS as readonly string[]).includes(one.model) ? undefined : { message: `${shown(one.model)} is no model tier.`, fix: `Choose ${MODEL_TIERS.join(', ')}.` },
  },
  {
    rule: 'speaks',
    breaks: ({ prompt }) => {
      const word = speaksIn(prompt);
      return word === undefined ? undefined : { message: `Its prompt lets a subagent speak (${shown(word)}); only the assistant speaks.`, fix: 'Take it out, and let the assistant announce the result.' };
    },
  },
  {
    rule: 'audit-mode',
    breaks: ({ subagentType, prompt }, types) =>
      isBuilder(subagentType, types) && /\baudit\b/i.test(prompt) && !/^MODE: (?:audit|build)\b/.test(prompt)
        ? { message: 'An audit by the builder does not begin with "MODE: audit".', fix: 'Begin its prompt with MODE: audit; it then reads only.' }
        : undefined,
  },
  {
    rule: 'audit-effort',
    breaks: ({ subagentType, prompt, effort }, types) => isBuilder(subagentType, types) && /^MODE: audit\b/.test(prompt) && effort !== null && effort < 4 ? { message: `A cross-vendor audit at effort E${effort}; it is for E4 and E5.`, fix: 'Leave it out.' } : undefined,
  },
  {
    rule: 'managed-short',
    breaks: (one) => isManaged(one) && one.minutes !== null && one.minutes < 30 ? { message: `A managed agent for ${one.minutes} minutes; they are for work of 30 minutes and more.`, fix: 'Do it here, or with a team.' } : undefined,
  },
  {
    rule: 'managed-interactive',
    breaks: (one) => isManaged(one) && (one.interactive || asksPerson(one.prompt)) ? { message: 'A managed agent for interactive work; nobody is there to answer.', fix: 'Do it here, or give it all answers in its prompt.' } : undefined,
  },
  {
    rule: 'managed-context',
    breaks: (one) => isManaged(one) && (one.needsContext || needsLocal(one.prompt)) ? { message: 'A managed agent for work that needs your own context; it sees none of your files and skills.', fix: 'Do it here, or put what it needs into its prompt.' } : undefined,
  },
]; // prettier-ignore
const LOCAL =
  /(?:^|[\s"'`(])(?:~\/|\/(?:home|Users)\/|[A-Z]:\\Users\\)|\bCLAUDE\.md\b|\b(?:my|the principal's) (?:goals?|calendar|notes|memory|skills?|knowledge)\b|\bknowledge archive\b|\buser area\b/i;

const ASKS_PERSON = /\b(?:ask me|ask the (?:user|principal)|interactively?|wait for my)\b/i;

export function asksPerson(prompt: string): boolean {
  return ASKS_PERSON.test(prompt);
}

export function needsLocal(prompt: string): boolean {
  return LOCAL.test(prompt);
}

const BRIEF_PARTS: readonly { part: string; any: RegExp }[] = [
  { part: 'role', any: /\byou are\b|\brole\b|\bact as\b|\bas an? [a-z]/i },
  { part: 'perspective', any: /\bperspective\b|\bpoint of view\b|\bviewpoint\b|\bangle\b|\blens\b|\byou (?:bring|care|look|see)\b/i },
  { part: 'voice', any: /\bvoice\b|\btone\b|\bstyle\b|\bspeak like\b|\bwrite (?:like|in)\b/i },
]; // prettier-ignore
const SPEAKS =
  /\/notify\b|\bsteward notify send\b|\bvoice_id\b|\bvoice_enabled["']?\s*:\s*true\b|\b(?:speak|announce|say)(?: [a-z]+){0,4} (?:aloud|out loud)\b|\bannounce(?: [a-z]+){0,3} (?:by|with|in your|via) (?:voice|speech)\b|\bspd-say\b|\bespeak(?:-ng)?\b|\btext-to-speech\b/gi;

/** The first words that let it speak; a prompt may as well forbid it, there or at its end. */
function speaksIn(prompt: string): string | undefined {
  const forbidden = prompt.lastIndexOf(SILENCE);
  for (const found of prompt.matchAll(SPEAKS)) {
    if (found.index < forbidden) continue;
    const before = prompt.slice(Math.max(0, found.index - 40), found.index);
    if (!/\b(?:do not|don't|never|no|without|not)\b[^.!?\n]*$/i.test(before)) return found[0];
  }
  return undefined;
}

function together(invocations: readonly Invocation[], types: AgentTypes): Breach[] {
  const found: Breach[] = [];
  const add = (rule: string, message: string, fix: string): void => {
    found.push({ invocation: null, rule, message, fix });
  };
  const briefs = invocations
    .filter(({ worker, prompt }) => worker === 'custom' && prompt.trim() !== '')
    .map(({ prompt }) => prompt.trim());
  if (new Set(briefs).size < briefs.length)
    add('same-brief', 'Two custom agents have the same brief.', 'Write one distinct brief for each agent.');
  const launched = invocations.filter(({ worker }) => worker !== 'native');
  const isSpotcheck = ({ subagentType, model, prompt }: Invocation): boolean =>
    subagentType === types.general && model === 'fast' && /\bspot-?check|\bconsisten/i.test(prompt);
  if (launched.length > 1 && !launched.some(isSpotcheck))
    add(
      'missing-spotcheck',
      'Nobody checks the outputs of this parallel work against each other.',
      `Launch one more agent after it: ${types.general}, fast tier, that verifies consistency.`,
    );
  if (launched.length > MAX_BRIEFS + 1)
    add('fan-out', `${launched.length} agents are launched at once.`, `Launch ${MAX_BRIEFS} at most.`);
  return found;
}

function isRetired(type: string | null, types: AgentTypes): boolean {
  return type !== null && RETIRED.has(type.toLowerCase()) && !typesOf(types).includes(type);
}

/** False where another type goes by the same name. */
function isBuilder(type: string | null, types: AgentTypes): boolean {
  return type === types.builder && typesOf(types).filter((name) => name === type).length === 1;
}

function typesOf(types: AgentTypes): string[] {
  return [types.general, types.explore, types.plan, types.builder, types.toolGuide, ...types.researchers];
}

function shown(text: string | null): string {
  return `"${clean(text ?? '').slice(0, 60)}"`;
}
