import vocabulary from '../../../templates/data/traits.json';
import { StewardError } from '../errors';
import { shortHash } from '../platform/files/short-hash';

export const MODEL_TIERS = ['fast', 'balanced', 'deep'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];

export const TRAIT_FAMILIES = vocabulary;
export type TraitFamily = keyof typeof TRAIT_FAMILIES;

export function traitIds(family: TraitFamily): string[] {
  return TRAIT_FAMILIES[family].map(({ id }) => id);
}

/** Returns the properties of a flag for traits. */
export function traitFlag(family: TraitFamily) {
  return { helpGroup: 'TRAIT', options: traitIds(family), helpValue: 'TRAIT' };
}

/** Returns the ids of the traits that the text mentions, in order of appearance and without duplicates. */
export function traitsIn(family: TraitFamily, text: string): string[] {
  const traits: readonly (typeof TRAIT_FAMILIES)[TraitFamily][number][] = TRAIT_FAMILIES[family];
  const byWord = new Map(
    traits.flatMap(({ id, words }) => [id, ...words].map((word) => [word, id] as const)),
  );
  const words = text.toLowerCase().match(/[^\s.,;:!?"'()[\]{}/\\]+/g) ?? [];
  const found = words.map((word) =>
    [word, ...word.split('-')].map((part) => byWord.get(part)).find((id) => id !== undefined),
  );
  return [...new Set(found.filter((id) => id !== undefined))];
}

/** A brief for one agent. The agent receives only `prompt`. */
export type Brief = ReturnType<typeof brief>;

type Preferred = Partial<Record<TraitFamily, readonly string[]>>;

export interface BriefOptions extends Preferred {
  /** Number of briefs, 1 to `MAX_BRIEFS`. */
  count: number;
  subagentType: string;
  model: ModelTier;
  /** The role of every agent. By default, an agent's expertise determines its role. */
  role?: string;
  /** `build` or `audit`, for the builder agent type. Becomes the first line of the prompt. */
  mode?: BuilderMode;
  /** The working method, such as test-driven development. */
  method?: string;
  /** Preferred traits. Traits mentioned in the request take precedence. */
  prefer?: Preferred;
}

export type BuilderMode = 'build' | 'audit';
const MODE_LINES: Readonly<Record<BuilderMode, string>> = {
  build: 'MODE: build.',
  audit: 'MODE: audit, read-only.',
};

/** Text appended to every prompt; overrides earlier instructions to speak aloud. */
export const SILENCE = 'Write text only: do not speak, notify or announce anything; the assistant does that.';

/** Maximum number of briefs or agents per request. */
export const MAX_BRIEFS = 32;
const MAX_TASK = 8000;

/** The order in which fields of expertise are assigned if the request mentions none. */
const ORDER = 'business technical communications data creative research finance security legal medical'.split(' '); // prettier-ignore
const EXPERTISE = [...TRAIT_FAMILIES.expertise].sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));

/**
 * Composes briefs deterministically, each with a different combination of traits. Throws `usage` if `count`
 * exceeds the number of possible combinations.
 */
export function composeBriefs(request: string, options: BriefOptions): Brief[] {
  const start = Number.parseInt(shortHash(request), 16);
  const choices = <T extends { id: string }>(family: TraitFamily, traits: readonly T[], from: number): T[] => {
    const given = options[family] ?? [];
    const wanted = [...given, ...traitsIn(family, request), ...(options.prefer?.[family] ?? [])];
    const first = wanted.flatMap((id) => traits.filter((trait) => trait.id === id));
    if (given.length === 1) return first.slice(0, 1);
    return [...new Set([...first, ...traits.map((_, index) => at(traits, index + from))])];
  }; // prettier-ignore
  const lists = {
    expertise: choices('expertise', EXPERTISE, 0),
    personality: choices('personality', TRAIT_FAMILIES.personality, start),
    approach: choices('approach', TRAIT_FAMILIES.approach, start >>> 8),
  };
  const distinct = Object.values(lists).reduce((product, { length }) => product * length, 1);
  if (options.count > distinct) {
    throw new StewardError('usage', `Cannot write ${options.count} different briefs with these traits.`, {
      hint: `Set fewer traits, or lower --count to ${distinct}.`,
    });
  }
  return Array.from({ length: Math.min(options.count, MAX_BRIEFS) }, (_, index) => {
    const round = index + Math.floor(index / EXPERTISE.length);
    return brief(request, options, index, {
      expertise: at(lists.expertise, index),
      personality: at(lists.personality, round),
      approach: at(lists.approach, round),
    });
  });
}

type Parts = { [F in TraitFamily]: (typeof TRAIT_FAMILIES)[F][number] };

function brief(request: string, options: BriefOptions, index: number, parts: Parts) {
  const { expertise, personality, approach } = parts;
  const { count, mode, method, subagentType, model, role = expertise.role } = options;
  const perspective = `${expertise.does}, through ${personality.id} eyes`;
  const lines = [
    mode === undefined ? undefined : MODE_LINES[mode],
    `You are ${withArticle(role)}, ${personality.does}.`,
    `Perspective: ${perspective}.`,
    `Voice: ${personality.voice}.`,
    `Work ${approach.does}.`,
    method,
    count === 1
      ? undefined
      : `You are agent ${index + 1} of ${count}; each agent has its own brief. Keep to your perspective; do not guess what the others find.`,
    '',
    'Task:',
    taskOf(request),
    '',
    `Report what you found or did, your evidence, and any open questions. ${SILENCE}`,
  ];
  return {
    role,
    perspective,
    /** The agent's writing style, not a voice for speech output. */
    voice: personality.voice,
    expertise: expertise.id,
    personality: personality.id,
    approach: approach.id,
    subagentType,
    model,
    prompt: lines.filter((line) => line !== undefined).join('\n'),
  };
}

/** Removes control characters from a request. Keeps only the start and end of a very long request. */
export function taskOf(request: string): string {
  const text = request.replace(/\r\n?/g, '\n').replace(CONTROLS, '').trim();
  if (text.length <= MAX_TASK) return text;
  const half = MAX_TASK / 2;
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`.replace(LONE_SURROGATES, '');
}

/** Returns the task of a brief, or the prompt without its mode. */
export function taskIn(prompt: string): string {
  const start = prompt.search(/\nTask:\n/);
  if (start === -1) return prompt.replace(/^MODE: [a-z, -]+\.?/, '');
  const end = prompt.lastIndexOf('\n\nReport what you');
  return prompt.slice(start + '\nTask:\n'.length, end > start ? end : undefined);
}

const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function at<T>(items: readonly T[], index: number): T {
  return items[index % items.length] as T;
}

/** Prefixes a noun with its indefinite article: `an engineer`, `a lawyer`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** Returns instructions for launching several agents, or undefined for a single agent. */
export function launchOf(count: number): string | undefined {
  return count > 1
    ? `Launch all ${count} agents in one message, then the spotcheck agent when they finish.`
    : undefined;
}

/** The output of `agents brief`. `launch` and `spotcheck` are set only for multiple briefs. */
export type BriefBatch = ReturnType<typeof batchOf>;

export function batchOf(request: string, options: BriefOptions) {
  const briefs = composeBriefs(request, options);
  const launch = launchOf(briefs.length);
  if (launch === undefined) return { briefs, spotcheck: null };
  return { briefs, launch, spotcheck: spotcheckOf(request, briefs.length, options.subagentType) };
}

export function spotcheckOf(request: string, count: number, general: string) {
  const agents = count > 1 ? `${count} agents` : 'Several agents';
  const prompt = [
    `Spotcheck. ${agents} worked in parallel on the task below. Their outputs follow the task.`,
    'Verify that the outputs are consistent with each other and with the task. Look for contradictions, gaps, duplicate work, and claims that another output disproves.',
    '',
    'Task:',
    taskOf(request),
    '',
    `Change nothing. List each inconsistency and the outputs involved, or report that you found none. ${SILENCE}`,
  ].join('\n');
  return { subagentType: general, model: 'fast', prompt };
}
