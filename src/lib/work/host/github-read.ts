import * as v from 'valibot';

import { clean } from '../../platform/terminal/terminal';
import { Time } from '../cache';
import { MAX_TITLE } from '../issue';
import type { HostIssue, Review } from '../issue';

/** The site and repository that URLs must belong to, such as `https://github.com` and `ann/work`. */
interface IssueSite {
  site: string;
  repo: string;
}

const Id = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** Parses and sanitizes text of at most `max` UTF-16 code units. */
const line = (max: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => clean(text.slice(0, max))),
  );
/** GitHub allows label names of up to 50 characters, and a character may take two UTF-16 code units. */
const LabelText = line(100);
/** Most endpoints return labels as objects; older endpoints return only the names. */
const LabelName = v.union([
  LabelText,
  v.pipe(
    v.object({ name: LabelText }),
    v.transform(({ name }) => name),
  ),
]);
export const LabelNames = v.array(LabelName);

const PAGE = /^[\w.-]+\/[\w.-]+(?:\/issues\/\d+(?:#issuecomment-\d+)?)?$/;

/** Returns the URL if it belongs to the site. Otherwise, builds a URL from `path`. */
function pageOf(url: unknown, { site, repo }: IssueSite, path: string): string {
  const prefix = `${site}/`;
  const isPage = typeof url === 'string' && url.startsWith(prefix) && PAGE.test(url.slice(prefix.length));
  return isPage ? url : `${prefix}${repo}${path}`;
}

const RepositoryData = v.pipe(
  v.object({
    id: Id,
    full_name: v.pipe(v.string(), v.regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/)),
    private: v.boolean(),
    visibility: v.fallback(v.nullable(line(50)), null),
    html_url: v.optional(v.unknown()),
    has_issues: v.optional(v.unknown()),
    archived: v.optional(v.unknown()),
    permissions: v.fallback(v.object({ push: v.nullable(v.boolean()) }), { push: null }),
  }),
  v.transform((data) => ({
    id: data.id,
    /** The repository's name as GitHub spells it. */
    repo: data.full_name,
    url: data.html_url,
    visibility: data.visibility ?? (data.private ? 'private' : 'public'),
    hasIssues: data.has_issues !== false,
    archived: data.archived === true,
    /** Whether the credential allows writing; `null` if unknown. */
    canWrite: data.permissions.push,
  })),
);
export type Repository = v.InferOutput<typeof RepositoryData> & { url: string };

export function repositoryOn(site: string): v.GenericSchema<unknown, Repository> {
  const withPage = v.transform((data: v.InferOutput<typeof RepositoryData>) => {
    return { ...data, url: pageOf(data.url, { site, repo: data.repo }, '') };
  });
  return v.pipe(RepositoryData, withPage);
}

/** Parses an issue. Sanitizes all text except the body. */
export function issueIn(place: IssueSite): v.GenericSchema<unknown, HostIssue> {
  return v.pipe(
    v.object({
      number: Id,
      title: line(2 * MAX_TITLE),
      body: v.fallback(v.string(), ''),
      html_url: v.optional(v.unknown()),
      state: v.picklist(['open', 'closed']),
      state_reason: v.fallback(v.nullable(line(50)), null),
      labels: LabelNames,
      created_at: Time,
      updated_at: Time,
      closed_at: v.nullish(Time, null),
    }),
    v.transform(({ html_url, state_reason, created_at, updated_at, closed_at, ...issue }) => ({
      ...issue,
      url: pageOf(html_url, place, `/issues/${issue.number}`),
      stateReason: state_reason,
      createdAt: created_at,
      updatedAt: updated_at,
      closedAt: closed_at,
    })),
  );
}

/** Parses a pull request found by a search, in any repository. */
export function reviewOn(site: string): v.GenericSchema<unknown, Review> {
  return v.pipe(
    v.object({
      number: Id,
      title: line(2 * MAX_TITLE),
      repository_url: v.pipe(v.string(), v.regex(/\/repos\/[\w.-]{1,100}\/[\w.-]{1,100}$/)),
      updated_at: Time,
    }),
    v.transform(({ number, title, repository_url: api, updated_at: updatedAt }) => {
      const repo = api.split('/').slice(-2).join('/');
      return { repo, number, title, url: `${site}/${repo}/pull/${number}`, updatedAt };
    }),
  );
}

export type Comment = v.InferOutput<typeof CommentData>;
export const CommentData = v.pipe(
  v.object({
    user: v.fallback(v.object({ login: line(100) }), { login: 'ghost' }),
    body: v.fallback(v.string(), ''),
    created_at: Time,
  }),
  v.transform(({ user, body, created_at }) => ({ author: user.login, body, createdAt: created_at })),
);

export type LabelEvent = NonNullable<v.InferOutput<typeof EventData>>;
export const EventData = v.union([
  v.pipe(
    v.object({
      id: Id,
      event: v.picklist(['labeled', 'unlabeled']),
      label: v.object({ name: LabelText }),
      created_at: Time,
    }),
    v.transform(({ id, event, label, created_at }) => ({ id, event, label: label.name, at: created_at })),
  ),
  v.pipe(
    v.object({ id: Id, event: v.pipe(v.string(), v.regex(/^(?!(?:un)?labeled$)/)) }),
    v.transform(() => null),
  ),
]);

export type HostLabel = v.InferOutput<typeof LabelData>;
export const LabelData = v.object({
  name: LabelText,
  color: v.fallback(v.pipe(v.string(), v.regex(/^[0-9a-f]{6}$/i)), ''),
  description: v.fallback(line(200), ''),
});

export function commentUrlIn(place: IssueSite, number: number): v.GenericSchema<unknown, { url: string }> {
  return v.pipe(
    v.object({ html_url: v.string() }),
    v.transform((data) => ({ url: pageOf(data.html_url, place, `/issues/${number}`) })),
  );
}
