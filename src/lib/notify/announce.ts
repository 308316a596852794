import { join, resolve } from 'node:path';

import WORDS from '../../../templates/data/announce.json';
import { lstatOf } from '../platform/files/folder';
import { clean } from '../platform/terminal/terminal';
import type { Accepted } from './accept';

type RequestKind = 'question' | 'command' | 'investigation' | 'research' | 'conversation';

/** How the assistant handles a request. Only `task` and `workflow` requests are announced. */
export const HANDLINGS = ['task', 'workflow', 'direct-skill', 'utility', 'sub-workflow'] as const;
type Handling = (typeof HANDLINGS)[number];

interface Announcement {
  kind: RequestKind;
  /** The line to announce; `null` if there is nothing to announce. */
  line: string | null;
  /** The task in at most five words; `null` for a conversation. */
  action: string | null;
  /** The workflow in the announcement; `null` if there is none. */
  workflow: { name: string; skill: string } | null;
  /** Why the task isn't announced, or why the workflow isn't named. */
  reason: string | null;
}

export interface AnnounceInput {
  request: string;
  handling: Handling;
  skill?: string | undefined;
  workflow?: string | undefined;
  isWorkflow: (skill: string, workflow: string) => boolean;
}

export type Announced = Awaited<ReturnType<typeof announceRequest>>;

export interface AnnounceDeps {
  skills: string;
  voiceId: string | undefined;
  send: (body: object) => Promise<Accepted>;
}

/** Returns the announcement for a request; with `send`, also sends it as a notification. */
export async function announceRequest(
  { skills, voiceId, send }: AnnounceDeps,
  flags: Pick<AnnounceInput, 'request' | 'skill' | 'workflow'> & {
    kind: string;
    skills?: string | undefined;
    send: boolean;
  },
) {
  const folder = flags.skills === undefined ? skills : resolve(flags.skills);
  const { request, kind, skill, workflow } = flags;
  const isWorkflow: AnnounceInput['isWorkflow'] = (...names) => workflowExists(folder, ...names);
  const announced = announce({ request, handling: kind as Handling, skill, workflow, isWorkflow });
  const { line, workflow: named } = announced;
  if (line === null || !flags.send) return { ...announced, sent: null };
  const title = named === null ? 'Task started' : `${named.name} workflow`;
  const voice = voiceId === undefined ? {} : { voice_id: voiceId };
  return { ...announced, sent: await send({ message: line, title, ...voice }) };
}

const MAX_WORDS = 5;

/** Builds an announcement: the task as a short phrase ("Fixing the login") or the workflow's name. */
export function announce({ request, handling, skill, workflow, isWorkflow }: AnnounceInput): Announcement {
  const { kind, gerund, about } = readRequest(request);
  const action = gerund === null ? null : phrase(gerund, about);
  const plain = (line: string | null, reason: string | null): Announcement => {
    return { kind, line, action, workflow: null, reason };
  };
  if (handling !== 'task' && handling !== 'workflow')
    return plain(null, `${handling} requests are not announced`);
  if (action === null) return plain(null, 'conversations are not announced');
  if (workflow === undefined) {
    return skill === undefined
      ? plain(action, null)
      : plain(null, 'skills without a workflow are not announced');
  }
  if (skill === undefined || !isWorkflow(skill, workflow)) {
    const owner = skill === undefined ? 'no skill was given' : `skill ${clean(skill)}`;
    return plain(action, `workflow ${clean(workflow)} not found (${owner})`);
  }
  const line = `Executing the ${workflow} workflow within the ${skill} skill`;
  return { kind, line, action, workflow: { name: workflow, skill }, reason: null };
}

/** Returns whether `<skills>/<skill>/workflows/<workflow>.md` is a regular file. */
export function workflowExists(skills: string, skill: string, workflow: string): boolean {
  if (![skill, workflow].every((name) => /^[A-Za-z0-9][\w-]{0,80}$/.test(name))) return false;
  return ['workflows', 'Workflows'].some(
    (folder) => lstatOf(join(skills, skill, folder, `${workflow}.md`))?.isFile === true,
  );
}

/** Matches greetings and polite phrases at the start of a request. */
const COURTESY = new RegExp(WORDS.courtesy);

const CONVERSATION = new RegExp(WORDS.conversation);

function readRequest(text: string): { kind: RequestKind; gerund: string | null; about: string } {
  const plain = clean(text)
    .replace(/\u2019/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
  const asked = plain.slice(COURTESY.exec(plain.toLowerCase())?.[0].length ?? 0);
  const low = asked.toLowerCase();
  for (const { openings, kind, gerund } of WORDS.openings) {
    const lengths = openings
      .filter((opening) => low.startsWith(opening) && !/^\w/.test(low.slice(opening.length)))
      .map(({ length }) => length);
    const about = asked.slice(Math.max(0, ...lengths)).trim();
    if (lengths.length > 0 && !isSmallTalk(low) && wordsOf(about).length > 0)
      return { kind: kind as RequestKind, gerund, about };
  }
  if (isSmallTalk(plain.toLowerCase()) || isSmallTalk(low) || wordsOf(asked).length < 3) {
    return { kind: 'conversation', gerund: null, about: '' };
  }
  return asked.endsWith('?')
    ? { kind: 'question', gerund: 'Checking', about: asked }
    : { kind: 'command', gerund: 'Updating', about: asked };
}

function isSmallTalk(low: string): boolean {
  return CONVERSATION.test(low) && wordsOf(low).length <= 5;
}

function phrase(gerund: string, about: string): string {
  const [sentence = ''] = about.split(/[.!?;:]\s|[.!?;:]$|,\s/);
  const words = wordsOf(sentence).filter((word) => !WORDS.small.includes(word.toLowerCase()));
  const taken = words.slice(0, MAX_WORDS - gerund.split(' ').length);
  while (taken.length > 1 && WORDS.looseEnds.includes(taken.at(-1)?.toLowerCase() ?? '')) taken.pop();
  return [gerund, ...taken].join(' ');
}

function wordsOf(text: string): string[] {
  return text
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}@#/.~_-]+|(?<![^\p{L}\p{N}_)])[^\p{L}\p{N}_)]+$/gu, ''))
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}
