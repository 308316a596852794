import { StewardError } from '../errors';
import { shortHash } from '../platform/files/short-hash';
import {
  APPROACH,
  EXPERTISE,
  PERSONALITY,
  traitsIn,
  type Approach,
  type Expertise,
  type Personality,
  type TraitFamily,
} from './traits';

/** The three model tiers (service.md: Agent invocation); the assistant knows which of its models each one is. */
export const MODEL_TIERS = ['fast', 'balanced', 'deep'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];

/** An inline brief: `prompt` is what the agent is launched with, the rest is what it was composed of. */
export interface Brief {
  role: string;
  perspective: string;
  /** How it writes. It is no speaking voice: only the assistant speaks. */
  voice: string;
  expertise: Expertise;
  personality: Personality;
  approach: Approach;
  subagentType: string;
  model: ModelTier;
  prompt: string;
}

export interface BriefOptions {
  /** 1 to `MAX_BRIEFS`. */
  count: number;
  subagentType: string;
  model: ModelTier;
  /** What every one of them is; by its expertise when left out. */
  role?: string;
  /** Of the cross-vendor builder: its prompt begins with the mode. */
  mode?: BuilderMode;
  /** How the work is done whoever does it: test-driven, by a list of trade-offs. */
  method?: string;
  /** One is meant for every brief; several are the first choices, before those of the request. */
  expertise?: readonly Expertise[];
  personality?: readonly Personality[];
  approach?: readonly Approach[];
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

export type Preferred = Partial<Record<TraitFamily, readonly string[]>>;

/** As many as differ in perspective and can still be read by a person; also the cap on what one request launches. */
export const MAX_BRIEFS = 32;
const MAX_TASK = 8000;

/** Who is asked first where a request names no field. */
const ORDER: readonly Expertise[] = [
  'business',
  'technical',
  'communications',
  'data',
  'creative',
  'research',
  'finance',
  'security',
  'legal',
  'medical',
];
const GENERALISTS = [...EXPERTISE].sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));

/**
 * Composes briefs from the trait vocabulary. The same request and options give the same briefs, and no two of
 * them have the same three traits: one distinct brief an agent. A family with one choice
 * has it in every brief; what then cannot be distinct any more is `usage`.
 */
export function composeBriefs(request: string, options: BriefOptions): Brief[] {
  const start = Number.parseInt(shortHash(request), 16);
  const asked = (family: TraitFamily): readonly string[] => [
    ...traitsIn(family, request),
    ...(options.prefer?.[family] ?? []),
  ];
  const lists = {
    expertise: choices(GENERALISTS, options.expertise, asked('expertise'), 0),
    personality: choices(PERSONALITY, options.personality, asked('personality'), start),
    approach: choices(APPROACH, options.approach, asked('approach'), start >>> 8),
  };
  const distinct = Object.values(lists).reduce((product, { length }) => product * length, 1);
  if (options.count > distinct) {
    throw new StewardError(
      'usage',
      `${options.count} briefs cannot all differ when those traits are fixed.`,
      {
        hint: `Fix fewer traits, or ask for ${distinct} at most.`,
      },
    );
  }
  return Array.from({ length: Math.min(options.count, MAX_BRIEFS) }, (_, index) => {
    const round = Math.floor(index / EXPERTISE.length);
    return brief(request, options, index, {
      expertise: at(lists.expertise, index),
      personality: at(lists.personality, index + round),
      approach: at(lists.approach, index + round),
    });
  });
}

interface Parts {
  expertise: (typeof EXPERTISE)[number];
  personality: (typeof PERSONALITY)[number];
  approach: (typeof APPROACH)[number];
}

function brief(request: string, options: BriefOptions, index: number, parts: Parts): Brief {
  const { expertise, personality, approach } = parts;
  const role = options.role ?? expertise.role;
  const perspective = `${expertise.does}, through ${personality.id} eyes`;
  const others = options.count - 1;
  const prompt = [
    ...(options.mode === undefined ? [] : [MODE_LINES[options.mode]]),
    `You are ${article(role)} ${role}, ${personality.does}.`,
    `Perspective: ${perspective}.`,
    `Voice: ${personality.voice}.`,
    `Work ${approach.does}.`,
    ...(options.method === undefined ? [] : [options.method]),
    ...(others === 0
      ? []
      : [
          `You are ${index + 1} of ${options.count} with a brief each: keep to your own perspective, and do not guess at what the others find.`,
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
    subagentType: options.subagentType,
    model: options.model,
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

/** One choice alone; else all traits, the wanted ones first, the others from a start that the request decides. */
function choices<T extends { id: string }>(
  traits: readonly T[],
  given: readonly string[] = [],
  asked: readonly string[],
  start: number,
): T[] {
  const first = [...given, ...asked].flatMap((id) => traits.filter((trait) => trait.id === id));
  if (given.length === 1) return first.slice(0, 1);
  const rest = traits.map((_, index) => at(traits, index + start));
  return [...new Set([...first, ...rest])];
}

function at<T>(items: readonly T[], index: number): T {
  return items[index % items.length] as T;
}

function article(noun: string): string {
  return /^[aeiou]/i.test(noun) ? 'an' : 'a';
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
  return {
    subagentType: general,
    model: 'fast',
    prompt: [
      `Spotcheck. ${who} have worked in parallel on the task below; their outputs follow it.`,
      'Verify that the outputs are consistent with each other and with the task: contradictions, gaps, the same thing done twice, claims that another output disproves.',
      '',
      'Task:',
      taskOf(request),
      '',
      `Change nothing. List each inconsistency with the outputs it is between, or say that there is none. ${SILENCE}`,
    ].join('\n'),
  };
}
