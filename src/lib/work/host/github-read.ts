import { parseIso } from '../../platform/time/clock';
import { clean } from '../../platform/terminal/terminal';
import { MAX_TITLE } from '../issue';
import type { Comment, HostIssue, HostLabel, LabelEvent, Repository } from './index';

/** An answer of the service, or a part of one. */
export type Data = Record<string, unknown>;

/** Whose answer it is, for the addresses of pages: `https://github.com`, `ann/work`. */
export interface Place {
  site: string;
  repo: string;
}

/** UTF-16 units of a label that are kept; the service takes 50 characters. */
const MAX_LABEL = 100;
const MAX_DESCRIPTION = 200;

export function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function idOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}

function timeOf(value: unknown): string | undefined {
  return typeof value === 'string' && parseIso(value) !== undefined ? value : undefined;
}

const PAGE = /^[\w.-]+\/[\w.-]+(?:\/issues\/\d+(?:#issuecomment-\d+)?)?$/;

/** The address of a page of the service's site; the one that belongs to `path` where the answer gives another. */
function pageOf(value: unknown, { site, repo }: Place, path: string): string {
  const own = `${site}/`;
  const isOwn = typeof value === 'string' && value.startsWith(own) && PAGE.test(value.slice(own.length));
  return isOwn ? value : `${own}${repo}${path}`;
}

export function readRepository(data: Data, site: string): Repository | undefined {
  const { full_name: repo, private: isPrivate, permissions } = data;
  const id = idOf(data['id']);
  if (id === undefined || typeof repo !== 'string' || typeof isPrivate !== 'boolean') return undefined;
  if (!/^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(repo)) return undefined;
  const rights = isData(permissions) ? permissions['push'] : undefined;
  return {
    id,
    repo,
    url: pageOf(data['html_url'], { site, repo }, ''),
    visibility: clean(textOf(data['visibility']) ?? (isPrivate ? 'private' : 'public')),
    hasIssues: data['has_issues'] !== false,
    archived: data['archived'] === true,
    canWrite: typeof rights === 'boolean' ? rights : null,
  };
}

/** The issue, its texts cleaned but for the body, whose bytes matter; undefined of one that is malformed. */
export function readIssue(data: Data, place: Place): HostIssue | undefined {
  const { title, state, closed_at: closed, state_reason: reason } = data;
  const number = idOf(data['number']);
  const labels = labelNames(data['labels']);
  const createdAt = timeOf(data['created_at']);
  const updatedAt = timeOf(data['updated_at']);
  const closedAt = closed === null || closed === undefined ? null : timeOf(closed);
  if (number === undefined || typeof title !== 'string' || labels === undefined) return undefined;
  if (createdAt === undefined || updatedAt === undefined || closedAt === undefined) return undefined;
  if (state !== 'open' && state !== 'closed') return undefined;
  return {
    number,
    title: clean(title.slice(0, 2 * MAX_TITLE)),
    body: textOf(data['body']) ?? '',
    url: pageOf(data['html_url'], place, `/issues/${number}`),
    state,
    stateReason: typeof reason === 'string' ? clean(reason) : null,
    labels,
    createdAt,
    updatedAt,
    closedAt,
  };
}

function labelOf(name: string): string {
  return clean(name.slice(0, MAX_LABEL));
}

/** Labels come as objects, and from old endpoints as names. Undefined where one is neither. */
export function labelNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = (value as unknown[]).map((label) => textOf(isData(label) ? label['name'] : label));
  return names.every((name) => name !== undefined) ? names.map(labelOf) : undefined;
}

export function readComment(data: Data): Comment | undefined {
  const user = data['user'];
  const createdAt = timeOf(data['created_at']);
  if (createdAt === undefined) return undefined;
  const author = isData(user) ? textOf(user['login']) : undefined;
  return { author: clean(author ?? 'ghost'), body: textOf(data['body']) ?? '', createdAt };
}

/** null: an event of another kind. */
export function readEvent(data: Data): LabelEvent | null | undefined {
  const { event, label } = data;
  const id = idOf(data['id']);
  if (id === undefined || typeof event !== 'string') return undefined;
  if (event !== 'labeled' && event !== 'unlabeled') return null;
  const name = isData(label) ? textOf(label['name']) : undefined;
  const at = timeOf(data['created_at']);
  return name === undefined || at === undefined ? undefined : { id, event, label: labelOf(name), at };
}

export function readLabel(data: Data): HostLabel | undefined {
  const { name, color, description } = data;
  if (typeof name !== 'string') return undefined;
  return {
    name: labelOf(name),
    color: typeof color === 'string' && /^[0-9a-f]{6}$/i.test(color) ? color : '',
    description: clean((textOf(description) ?? '').slice(0, MAX_DESCRIPTION)),
  };
}

/** The address of a comment that was made. */
export function readCommentUrl(data: Data, place: Place, number: number): { url: string } | undefined {
  const { html_url: url } = data;
  return typeof url === 'string' ? { url: pageOf(url, place, `/issues/${number}`) } : undefined;
}
