import type { Comment, HostIssue, HostLabel, LabelEvent, Repository } from './index';

/** An answer of the service, or a part of one. */
export type Data = Record<string, unknown>;

export function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function readRepository(data: Data): Repository | undefined {
  const { id, full_name: repo, html_url: url, visibility, permissions } = data;
  if (typeof id !== 'number' || typeof repo !== 'string' || typeof data['private'] !== 'boolean')
    return undefined;
  const rights = isData(permissions) ? permissions['push'] : undefined;
  return {
    id,
    repo,
    url: textOf(url) ?? '',
    visibility: textOf(visibility) ?? (data['private'] ? 'private' : 'public'),
    hasIssues: data['has_issues'] !== false,
    archived: data['archived'] === true,
    canWrite: typeof rights === 'boolean' ? rights : null,
  };
}

export function readIssue(data: Data): HostIssue | undefined {
  const { number, title, state, html_url: url, created_at: createdAt, updated_at: updatedAt } = data;
  const labels = labelNames(data['labels']);
  if (typeof number !== 'number' || typeof title !== 'string' || labels === undefined) return undefined;
  if (typeof createdAt !== 'string' || typeof updatedAt !== 'string') return undefined;
  return {
    number,
    title,
    body: textOf(data['body']) ?? '',
    url: textOf(url) ?? '',
    state: state === 'closed' ? 'closed' : 'open',
    stateReason: textOf(data['state_reason']) ?? null,
    labels,
    createdAt,
    updatedAt,
    closedAt: textOf(data['closed_at']) ?? null,
  };
}

/** Labels come as objects, and from old endpoints as names. */
export function labelNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return (value as unknown[]).flatMap((label) => {
    const name = typeof label === 'string' ? label : isData(label) ? textOf(label['name']) : undefined;
    return name === undefined ? [] : [name];
  });
}

export function readComment(data: Data): Comment | undefined {
  const user = data['user'];
  const createdAt = textOf(data['created_at']);
  if (createdAt === undefined) return undefined;
  const author = isData(user) ? textOf(user['login']) : undefined;
  return { author: author ?? 'ghost', body: textOf(data['body']) ?? '', createdAt };
}

/** null: an event of another kind. */
export function readEvent(data: Data): LabelEvent | null | undefined {
  const { id, event, label, created_at: at } = data;
  if (typeof id !== 'number' || typeof event !== 'string') return undefined;
  const name = isData(label) ? textOf(label['name']) : undefined;
  if ((event !== 'labeled' && event !== 'unlabeled') || name === undefined || typeof at !== 'string')
    return null;
  return { id, event, label: name, at };
}

export function readLabel(data: Data): HostLabel | undefined {
  const name = textOf(data['name']);
  if (name === undefined) return undefined;
  return { name, color: textOf(data['color']) ?? '', description: textOf(data['description']) ?? '' };
}
