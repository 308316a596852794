import { boundFetch, type BoundFetch } from '../../platform/net/fetch';
import type { Clock } from '../../platform/time/clock';
import { keptIssue } from '../issue';
import { endless, failureOf, garbled, hostError, type Asked } from './failure';
import {
  isData,
  labelNames,
  readComment,
  readCommentUrl,
  readEvent,
  readIssue,
  readLabel,
  readRepository,
  textOf,
  type Data,
} from './github-read';
import type { Conditional, Host } from './index';
import type { Client } from './octokit';
import { apiUrl, findCredential, siteOf, tokenHash, type CredentialDeps } from './token';

export interface GitHubDeps extends CredentialDeps {
  clock: Clock;
  /** `steward/0.1.0` */
  userAgent: string;
  /** What is waited for at most when the service asks to wait, ms. */
  maxWaitMs: number;
  writesPerMinute?: number;
  secondMs?: number;
  timeoutMs?: number;
  bounds?: Bounds;
}

/** What one answer and one list may come to; what is more is an error, and never a part for the whole. */
interface Bounds {
  answerBytes: number;
  listPages: number;
  listBytes: number;
  listMs: number;
}

const MIB = 1024 * 1024;
/** A page of the longest issues is smaller; 192 MiB are some 30,000 issues. */
const BOUNDS: Bounds = { answerBytes: 32 * MIB, listPages: 1000, listBytes: 192 * MIB, listMs: 15 * 60_000 };
const PAGE = 100;
const TIMEOUT_MS = 30_000;
/** 80 creations a minute are allowed; some are left to the person. */
const WRITES_PER_MINUTE = 60;
const HEADERS = { 'x-github-api-version': '2022-11-28', accept: 'application/vnd.github+json' };

/** The client, and what went over the wire so far. */
interface Service {
  client: Client;
  /** `https://github.com` */
  site: string;
  bounds: Bounds;
  asked: (what: string) => Asked;
  traffic: { requests: number; bytes: number; remaining: number | null };
}

/** GitHub's REST API (version 2022-11-28) as a Host. Without a credential `auth`. */
export async function githubHost(deps: GitHubDeps): Promise<Host> {
  const api = apiUrl(deps.env);
  const { token, from } = await findCredential(deps, api);
  const { makeOctokit } = await import('./octokit');
  const bounds = deps.bounds ?? BOUNDS;
  const traffic: Service['traffic'] = { requests: 0, bytes: 0, remaining: null };
  const asked = (what: string): Asked => ({
    host: api.host,
    what,
    credential: from,
    nowMs: deps.clock.now(),
  });
  const client = makeOctokit({
    baseUrl: api.href.replace(/(?<!\/)\/+$/, ''),
    token,
    userAgent: deps.userAgent,
    maxWaitMs: deps.maxWaitMs,
    writesPerMinute: deps.writesPerMinute ?? WRITES_PER_MINUTE,
    secondMs: deps.secondMs ?? 1000,
    fetch: counted(
      boundFetch({
        origin: api.origin,
        timeoutMs: deps.timeoutMs ?? TIMEOUT_MS,
        maxBytes: bounds.answerBytes,
        env: deps.env,
      }),
      traffic,
      asked,
    ),
  });
  const service: Service = { client, site: siteOf(api), bounds, asked, traffic };
  return {
    tokenHash: tokenHash(token),
    usage: () => ({ requests: traffic.requests, remaining: traffic.remaining }),
    ...repositoryCalls(service),
    ...issueCalls(service),
    ...labelCalls(service),
  };
}

/** Counts what is received, and refuses what is no JSON: the library takes an empty answer for an empty list. */
function counted(bound: BoundFetch, traffic: Service['traffic'], asked: Service['asked']): BoundFetch {
  return async (url, init) => {
    traffic.requests += 1;
    const answer = await bound(url, init);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const { status, statusText, headers } = answer;
    const left = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);
    if (Number.isFinite(left)) traffic.remaining = left;
    traffic.bytes += bytes.length;
    if (status === 200 && !/^\s*[[{]/.test(bytes.toString('latin1', 0, 100))) throw garbled(asked(url));
    return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers });
  };
}

type Route = Parameters<Client['request']>[0];
interface Reply {
  status: number;
  data: unknown;
  headers: { etag?: string | undefined; link?: string | undefined };
}
/** `#12 of ann/work`, `GET /repos/…`, and what goes with it. */
type Question = [what: string, route: string, parameters?: object];

/** One request; whatever goes wrong is a StewardError. A redirect comes back as an answer and is none. */
async function send(service: Service, ...[what, route, parameters = {}]: Question): Promise<Reply> {
  // Sent once: a create or a comment whose answer was lost may have taken effect.
  const once = route.startsWith('POST') ? { request: { retries: 0 } } : {};
  try {
    const all = { ...parameters, ...once, headers: HEADERS };
    return notRedirected((await service.client.request(route as Route, all)) as Reply);
  } catch (error) {
    throw hostError(error, service.asked(what));
  }
}

function notRedirected(reply: Reply): Reply {
  if (reply.status >= 300) throw Object.assign(new Error('redirect'), { response: reply });
  return reply;
}

async function one<T>(
  service: Service,
  read: (data: Data) => T | undefined,
  ...question: Question
): Promise<T> {
  const { data } = await send(service, ...question);
  const value = isData(data) ? read(data) : undefined;
  if (value === undefined) throw garbled(service.asked(question[0]));
  return value;
}

/**
 * All pages, or unchanged. Only the ETag of an answer of one page stands for the whole. A malformed item is skipped
 * and counted; a list of nothing else is garbled.
 */
async function list<T>(
  service: Service,
  read: (data: Data) => T | undefined,
  [what, route, parameters]: Question,
  etag?: string,
): Promise<Conditional<T[]>> {
  const { client, bounds, traffic, asked } = service;
  const value: T[] = [];
  let [malformed, pages, mark] = [0, 0, null as string | null];
  const before = traffic.bytes;
  const late = AbortSignal.timeout(bounds.listMs);
  const headers = { ...HEADERS, ...(etag === undefined ? {} : { 'if-none-match': etag }) };
  try {
    const iterator = client.paginate.iterator(route as Route, { ...parameters, per_page: PAGE, headers });
    for await (const reply of iterator as AsyncIterable<Reply>) {
      if (!Array.isArray(notRedirected(reply).data)) throw garbled(asked(what));
      pages += 1;
      if (pages > bounds.listPages) throw endless(asked(what), `${bounds.listPages} pages`);
      if (traffic.bytes - before > bounds.listBytes)
        throw endless(asked(what), `${Math.round(bounds.listBytes / MIB)} MiB`);
      if (late.aborted) throw endless(asked(what), `${Math.round(bounds.listMs / 60_000)} minutes can read`);
      const items = (reply.data as unknown[]).map((item) => (isData(item) ? read(item) : undefined));
      const found = items.filter((item) => item !== undefined);
      malformed += items.length - found.length;
      // Copied: a short text that is part of a long one keeps all of it in memory.
      value.push(...(JSON.parse(JSON.stringify(found)) as T[]));
      mark = reply.headers.etag ?? null;
    }
  } catch (error) {
    const isNotModified = error instanceof Error && 'status' in error && error.status === 304;
    if (etag !== undefined && pages === 0 && isNotModified) return { unchanged: true };
    throw hostError(error, asked(what));
  }
  if (malformed > 0 && value.length === 0) throw garbled(asked(what));
  return { unchanged: false, value, etag: pages === 1 ? mark : null, malformed };
}

/** A list in which each item counts. */
async function whole<T>(
  service: Service,
  read: (data: Data) => T | undefined,
  ...question: Question
): Promise<T[]> {
  const found = await list(service, read, question);
  if (found.unchanged || found.malformed > 0) throw garbled(service.asked(question[0]));
  return found.value;
}

const REPO = '/repos/{owner}/{repo}';
const ISSUE = `${REPO}/issues/{issue_number}`;

function at(repo: string): { owner: string; repo: string } {
  const [owner = '', name = ''] = repo.split('/');
  return { owner, repo: name };
}

type Calls<K extends keyof Host> = Pick<Host, K>;

function repositoryCalls(service: Service): Calls<'repository' | 'createRepository'> {
  const read = (data: Data) => readRepository(data, service.site);
  return {
    repository: (repo) => one(service, read, repo, `GET ${REPO}`, at(repo)),
    async createRepository(repo) {
      const { owner, repo: name } = at(repo);
      const user = await one(service, (data) => textOf(data['login']), 'your account', 'GET /user');
      const settings = { name, private: true, has_issues: true, auto_init: true };
      return user.toLowerCase() === owner.toLowerCase()
        ? one(service, read, repo, 'POST /user/repos', settings)
        : one(service, read, owner, 'POST /orgs/{org}/repos', { org: owner, ...settings });
    },
  };
}

function issueCalls(
  service: Service,
): Calls<'issues' | 'issue' | 'createIssue' | 'updateIssue' | 'comment' | 'comments'> {
  const read = (repo: string) => (data: Data) => readIssue(data, { site: service.site, repo });
  const about = (repo: string, number: number, route: string, more: object = {}): Question => [
    `#${number} of ${repo}`,
    route,
    { ...at(repo), issue_number: number, ...more },
  ];
  return {
    async issues(repo, { since, etag }) {
      const query = {
        state: 'all',
        sort: 'updated',
        direction: 'asc',
        ...(since === undefined ? {} : { since }),
      };
      // The bodies of thousands of issues are let go page by page.
      const kept = (data: Data) => {
        if (data['pull_request'] !== undefined) return null;
        const issue = read(repo)(data);
        return issue === undefined ? undefined : keptIssue(issue);
      };
      const found = await list(service, kept, [repo, `GET ${REPO}/issues`, { ...at(repo), ...query }], etag);
      return found.unchanged ? found : { ...found, value: found.value.filter((issue) => issue !== null) };
    },
    issue: (repo, number) => one(service, read(repo), ...about(repo, number, `GET ${ISSUE}`)),
    createIssue: (repo, issue) =>
      one(service, read(repo), repo, `POST ${REPO}/issues`, { ...at(repo), ...issue }),
    updateIssue(repo, number, { stateReason, ...change }) {
      const body = { ...change, ...(stateReason === undefined ? {} : { state_reason: stateReason }) };
      return one(service, read(repo), ...about(repo, number, `PATCH ${ISSUE}`, body));
    },
    comment: (repo, number, body) =>
      one(
        service,
        (data) => readCommentUrl(data, { site: service.site, repo }, number),
        ...about(repo, number, `POST ${ISSUE}/comments`, { body }),
      ),
    comments: (repo, number) => whole(service, readComment, ...about(repo, number, `GET ${ISSUE}/comments`)),
  };
}

function labelCalls(
  service: Service,
): Calls<'addLabels' | 'removeLabel' | 'labelEvents' | 'labels' | 'createLabel'> {
  const about = (repo: string, number: number, route: string, more: object = {}): Question => [
    `#${number} of ${repo}`,
    `${route.replace(' ', ` ${ISSUE}/`)}`,
    { ...at(repo), issue_number: number, ...more },
  ];
  return {
    async addLabels(repo, number, labels) {
      const question = about(repo, number, 'POST labels', { labels });
      const names = labelNames((await send(service, ...question)).data);
      if (names === undefined) throw garbled(service.asked(question[0]));
      return names;
    },
    async removeLabel(repo, number, label) {
      try {
        await send(service, ...about(repo, number, 'DELETE labels/{name}', { name: label }));
      } catch (error) {
        if (failureOf(error)?.reason !== 'missing') throw error;
      }
    },
    async labelEvents(repo, number) {
      const events = await whole(service, readEvent, ...about(repo, number, 'GET events'));
      return events.filter((event) => event !== null).sort((a, b) => a.id - b.id);
    },
    labels: (repo, { etag }) => list(service, readLabel, [repo, `GET ${REPO}/labels`, at(repo)], etag),
    async createLabel(repo, label) {
      await send(service, repo, `POST ${REPO}/labels`, { ...at(repo), ...label });
    },
  };
}
