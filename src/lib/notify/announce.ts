import { join } from 'node:path';

import { lstatOf } from '../platform/files/folder';
import { clean } from '../platform/terminal/terminal';

/** What a request asks for (service.md: rule 3). */
export type RequestKind = 'question' | 'command' | 'investigation' | 'research' | 'conversation';

/** How a request is handled; the last three are never announced (rule 5). */
export const HANDLINGS = ['task', 'workflow', 'direct-skill', 'utility', 'sub-workflow'] as const;
export type Handling = (typeof HANDLINGS)[number];

export interface Announcement {
  kind: RequestKind;
  /** What is announced; null: nothing is. */
  line: string | null;
  /** What is begun, in less than six words; null for a conversation. */
  action: string | null;
  /** The workflow that is named in the line; null where none is. */
  workflow: { name: string; skill: string } | null;
  /** Why nothing is announced, or no workflow is named. */
  reason: string | null;
}

export interface AnnounceInput {
  request: string;
  handling: Handling;
  skill?: string;
  workflow?: string;
  /** Is there such a workflow file? */
  isWorkflow: (skill: string, workflow: string) => boolean;
}

/** Under six. */
const MOST_WORDS = 5;

/**
 * The opening line of a task (service.md: Events, rules 3 to 5): a gerund that fits the request and what it is
 * about; for a workflow that exists the sentence that names it. Pure but for `isWorkflow`.
 */
export function announce(input: AnnounceInput): Announcement {
  const { kind, gerund, about } = readRequest(input.request);
  const action = gerund === null ? null : phrase(gerund, about);
  const nothing = (reason: string): Announcement => ({ kind, line: null, action, workflow: null, reason });
  if (input.handling !== 'task' && input.handling !== 'workflow') {
    return nothing(`${input.handling} is not announced`);
  }
  if (action === null) return nothing('a conversation is not announced');
  const { skill, workflow } = input;
  if (skill !== undefined && workflow === undefined)
    return nothing('a skill without a workflow is not announced');
  if (workflow === undefined) return { kind, line: action, action, workflow: null, reason: null };
  if (skill === undefined || !input.isWorkflow(skill, workflow)) {
    const reason = `there is no workflow file ${clean(workflow)} of the skill ${clean(skill ?? '(none named)')}`;
    return { kind, line: action, action, workflow: null, reason };
  }
  const line = `Executing the ${workflow} workflow within the ${skill} skill`;
  return { kind, line, action, workflow: { name: workflow, skill }, reason: null };
}

/** Is there `<skills>/<skill>/workflows/<workflow>.md`, a real file? Names that leave the folder are none. */
export function workflowExists(skills: string, skill: string, workflow: string): boolean {
  if (![skill, workflow].every((name) => /^[A-Za-z0-9][\w-]{0,80}$/.test(name))) return false;
  return ['workflows', 'Workflows'].some(
    (folder) => lstatOf(join(skills, skill, folder, `${workflow}.md`))?.isFile === true,
  );
}

/** The verbs and question words that decide, in this order; the first that a request begins with. */
const OPENINGS: readonly [RegExp, RequestKind, string][] = [
  [/^(?:fix|repair|correct|resolve|solve)\b/, 'command', 'Fixing'],
  [
    /^(?:create|add|write|make|build|implement|generate|draft|set up|start|design|install)\b/,
    'command',
    'Creating',
  ],
  [
    /^(?:update|change|rename|refactor|upgrade|remove|delete|move|replace|rewrite|improve|clean up|edit|bump|convert|merge|configure|deploy|run|test|format|publish|release|commit|push)\b/,
    'command',
    'Updating',
  ],
  [/^(?:debug|trace|troubleshoot)\b/, 'investigation', 'Debugging'],
  [/^(?:analy[sz]e|profile|compare|review|audit|inspect|evaluate|assess)\b/, 'investigation', 'Analyzing'],
  [/^(?:investigate|diagnose|figure out|why)\b/, 'investigation', 'Investigating'],
  [/^(?:research|study)\b/, 'research', 'Researching'],
  [/^(?:explore|survey|learn about)\b/, 'research', 'Exploring'],
  [/^(?:look into|read up on|dig into)\b/, 'research', 'Looking into'],
  [/^(?:look up|define|explain|what(?:'s| is| are| does| do)?|when|how)\b/, 'question', 'Looking up'],
  [
    /^(?:find|search(?: for)?|locate|where(?:'s| is| are)?|who(?:'s| is)?|which|list|show(?: me)?)\b/,
    'question',
    'Finding',
  ],
  [
    /^(?:check|verify|see|is|are|does|do|did|has|have|was|were|will|can|could|should)\b/,
    'question',
    'Checking',
  ],
];

/** What is said out of courtesy, in front of what is meant. */
const COURTESY =
  /^(?:(?:hey|hi|hello|ok|okay|so|now|then|please|kindly|just|and|also)\b[\s,]*|(?:can|could|would|will) you\b\s*|i(?:'d| would) like you to\b\s*|i (?:want|need) you to\b\s*|let(?:'s| us)\b\s*|go ahead and\b\s*)+/;

const CONVERSATION =
  /^(?:thanks?(?: you)?|thx|great|nice|cool|awesome|perfect|good (?:job|work|morning|evening|night|idea)|well done|hi|hello|hey|yes|yep|yeah|no|nope|ok|okay|sure|got it|i see|makes sense|sounds good|agreed|how are you|what's up|bye|goodbye|good|lol|haha|never mind|nevermind)\b/;

/** Words that carry little, dropped from what it is about. */
const SMALL = new Set(['the', 'a', 'an', 'my', 'our', 'your', 'this', 'that', 'me', 'us', 'it', 'please', 'is', 'are', 'do', 'does', 'did', 'there']); // prettier-ignore

function readRequest(text: string): { kind: RequestKind; gerund: string | null; about: string } {
  const plain = clean(text)
    .replace(/\u2019/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
  const asked = plain.slice(COURTESY.exec(plain.toLowerCase())?.[0].length ?? 0);
  const low = asked.toLowerCase();
  for (const [opening, kind, gerund] of OPENINGS) {
    const match = opening.exec(low);
    const about = asked.slice(match?.[0].length ?? 0).trim();
    if (match !== null && !isSmallTalk(low) && hasWords(about)) return { kind, gerund, about };
  }
  if (isSmallTalk(plain.toLowerCase()) || isSmallTalk(low) || !hasWords(asked) || wordsOf(asked).length < 3) {
    return { kind: 'conversation', gerund: null, about: '' };
  }
  return asked.endsWith('?')
    ? { kind: 'question', gerund: 'Checking', about: asked }
    : { kind: 'command', gerund: 'Updating', about: asked };
}

/** Praise or a greeting, and at most a few words more. */
function isSmallTalk(low: string): boolean {
  return CONVERSATION.test(low) && wordsOf(low).length <= 5;
}

function phrase(gerund: string, about: string): string {
  const [sentence = ''] = about.split(/[.!?;:]\s|[.!?;:]$|,\s/);
  const words = wordsOf(sentence).filter((word) => !SMALL.has(word.toLowerCase()));
  const taken = words.slice(0, MOST_WORDS - gerund.split(' ').length);
  while (taken.length > 1 && LOOSE_END.has(taken[taken.length - 1]?.toLowerCase() ?? '')) taken.pop();
  return [gerund, ...taken].join(' ');
}

/** A phrase does not end in one of these. */
const LOOSE_END = new Set(['and', 'or', 'of', 'in', 'on', 'at', 'to', 'for', 'with', 'from', 'by', 'about', 'so', 'because', 'when', 'if', 'but', 'as']); // prettier-ignore

function hasWords(text: string): boolean {
  return wordsOf(text).length > 0;
}

function wordsOf(text: string): string[] {
  return text
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}@#/.~_-]+|(?<![^\p{L}\p{N}_)])[^\p{L}\p{N}_)]+$/gu, ''))
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}
