import { StewardError } from '../errors';
import { shortHash } from '../platform/files/short-hash';
import { TRAIT_FAMILIES, traitsIn, type TraitFamily } from './traits';

/** The assistant knows which of its models each tier is. */
export const MODEL_TIERS = ['fast', 'balanced', 'deep'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];

/** An inline brief: `prompt` is what the agent is launched with, the rest is what it was composed of. */
export interface Brief {
  role: string;
  perspective: string;
  /** How it writes; only the assistant speaks aloud. */
  voice: string;
  expertise: string;
  personality: string;
  approach: string;
  subagentType: string;
  model: ModelTier;
  prompt: string;
}

/** Ids of traits by family. */
export type Preferred = Partial<Record<TraitFamily, readonly string[]>>;

export interface BriefOptions extends Preferred {
  /** 1 to `MAX_BRIEFS`. */
  count: number;
  subagentType: string;
  model: ModelTier;
  /** What every one of them is; by its expertise when left out. */
  role?: string;
  /** Of the cross-vendor builder: its prompt begins with the mode. */
  mode?: BuilderMode;
  /** How the work is done by each of them: test-driven, by a list of trade-offs. */
  method?: string;
  /** Traits that suit this kind of work, behind those of the request. */
  prefer?: Preferred;
}

export type BuilderMode = 'build' | 'audit';
const MODE_LINES: Readonly<Record<BuilderMode, string>> = {
  build: 'MODE: build.',
  audit: 'MODE: audit, read-only.',
};

/** Ends each prompt, so that what the task says of speech is its topic and no order. */
export const SILENCE = 'Write text only: do not speak, notify or announce anything; the assistant does that.';

/** As many as differ in perspective and can still be read; also the cap on what one request launches. */
export const MAX_BRIEFS = 32;
const MAX_TASK = 8000;

/** Asked first where a request names no field. */
const ORDER = 'business technical communications data creative research finance security legal medical'.split(' '); // prettier-ignore
const GENERALISTS = [...TRAIT_FAMILIES.expertise].sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));

/**
 * Composes briefs from the trait vocabulary. The same request and options give the same briefs, and no two have the
 * same three traits. A family with one given trait has it in every brief; too few distinct ones is `usage`.
 */
export function composeBriefs(request: string, options: BriefOptions): Brief[] {
  const start = Number.parseInt(shortHash(request), 16);
  const choices = <T extends { id: string }>(
    family: TraitFamily,
    traits: readonly T[],
    from: number,
  ): T[] => {
    const given = options[family] ?? [];
    const wanted = [...given, ...traitsIn(family, request), ...(options.prefer?.[family] ?? [])];
    const first = wanted.flatMap((id) => traits.filter((trait) => trait.id === id));
    if (given.length === 1) return first.slice(0, 1);
    // The others from a start that the request decides.
    return [...new Set([...first, ...traits.map((_, index) => at(traits, index + from))])];
  };
  const lists = {
    expertise: choices('expertise', GENERALISTS, 0),
    personality: choices('personality', TRAIT_FAMILIES.personality, start),
    approach: choices('approach', TRAIT_FAMILIES.approach, start >>> 8),
  };
  const distinct = Object.values(lists).reduce((product, { length }) => product * length, 1);
  if (options.count > distinct) {
    const message = `${options.count} briefs cannot all differ when those traits are fixed.`;
    throw new StewardError('usage', message, { hint: `Fix fewer traits, or ask for ${distinct} at most.` });
  }
  return Array.from({ length: Math.min(options.count, MAX_BRIEFS) }, (_, index) => {
    const round = index + Math.floor(index / GENERALISTS.length);
    return brief(request, options, index, {
      expertise: at(lists.expertise, index),
      personality: at(lists.personality, round),
      approach: at(lists.approach, round),
    });
  });
}

type Parts = { [F in TraitFamily]: (typeof TRAIT_FAMILIES)[F][number] };

function brief(request: string, options: BriefOptions, index: number, parts: Parts): Brief {
  const { expertise, personality, approach } = parts;
  const { count, mode, method, subagentType, model, role = expertise.role } = options;
  const perspective = `${expertise.does}, through ${personality.id} eyes`;
  const prompt = [
    ...(mode === undefined ? [] : [MODE_LINES[mode]]),
    `You are ${withArticle(role)}, ${personality.does}.`,
    `Perspective: ${perspective}.`,
    `Voice: ${personality.voice}.`,
    `Work ${approach.does}.`,
    ...(method === undefined ? [] : [method]),
    ...(count === 1
      ? []
      : [
          `You are ${index + 1} of ${count} with a brief each: keep to your own perspective, and do not guess at what the others find.`,
        ]),
    '',
    'Task:',
    taskOf(request),
    '',
    `Report what you found or did, how you know it, and what is still open. ${SILENCE}`,
  ].join('\n');
  return {
    role,
    perspective,
    voice: personality.voice,
    expertise: expertise.id,
    personality: personality.id,
    approach: approach.id,
    subagentType,
    model,
    prompt,
  };
}

/** The request as a person wrote it, without controls; of a very long one the beginning and the end. */
export function taskOf(request: string): string {
  const text = request.replace(/\r\n?/g, '\n').replace(CONTROLS, '').trim();
  if (text.length <= MAX_TASK) return text;
  const half = MAX_TASK / 2;
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`.replace(LONE_SURROGATES, '');
}

// Line feeds and tabs stay: a request may hold a list or code.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function at<T>(items: readonly T[], index: number): T {
  return items[index % items.length] as T;
}

/** `an engineer`, `a lawyer`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** How a batch is launched; undefined for one agent alone. */
export function launchOf(count: number): string | undefined {
  return count > 1 ? `Launch all ${count} in one message, and the spotcheck once they are done.` : undefined;
}

/** The last agent of every parallel batch. */
export interface Spotcheck {
  subagentType: string;
  model: 'fast';
  prompt: string;
}

/** What `agents brief` gives: briefs, and for several how to launch them and what checks them afterwards. */
export interface BriefBatch {
  briefs: Brief[];
  launch?: string;
  spotcheck: Spotcheck | null;
}

export function batchOf(request: string, options: BriefOptions): BriefBatch {
  const briefs = composeBriefs(request, options);
  const launch = launchOf(briefs.length);
  if (launch === undefined) return { briefs, spotcheck: null };
  return { briefs, launch, spotcheck: spotcheckOf(request, briefs.length, options.subagentType) };
}

export function spotcheckOf(request: string, count: number, general: string): Spotcheck {
  const who = count > 1 ? `${count} agents` : 'Several agents';
  const prompt = [
    `Spotcheck. ${who} have worked in parallel on the task below; their outputs follow it.`,
    'Verify that the outputs are consistent with each other and with the task: contradictions, gaps, the same thing done twice, claims that another output disproves.',
    '',
    'Task:',
    taskOf(request),
    '',
    `Change nothing. List each inconsistency with the outputs it is between, or say that there is none. ${SILENCE}`,
  ].join('\n');
  return { subagentType: general, model: 'fast', prompt };
}
