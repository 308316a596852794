import * as v from 'valibot';

import { undefinedIf } from '../../errors';
import { boundFetch, type BoundFetch } from '../../platform/net/fetch';
import type { Clock } from '../../platform/time/clock';
import { toIssue } from '../issue';
import { failureOf, garbled, hostError, tooLong, type Asked } from './failure';
import {
  CommentData,
  commentUrlIn,
  EventData,
  issueIn,
  LabelData,
  LabelNames,
  repositoryOn,
  reviewOn,
} from './github-read';
import type { Conditional, Host } from './index';
import type { HostIssue } from '../issue';
import type { Client } from './octokit';
import { apiUrl, findCredential, siteOf, tokenHash, type CredentialDeps } from './token';

interface GitHubDeps extends CredentialDeps {
  clock: Clock;
  /** The User-Agent header, such as `steward/0.1.0`. */
  userAgent: string;
  /** The longest rate limit delay to wait for, in milliseconds. */
  maxWaitMs: number;
  writesPerMinute?: number;
  secondMs?: number;
  timeoutMs?: number;
  bounds?: typeof BOUNDS;
}

const MIB = 1024 * 1024;
/**
 * Exceeding a limit is an error, because a partial list could be mistaken for a complete list. About 30,000
 * issues fit in 192 MiB.
 */
const BOUNDS = { answerBytes: 32 * MIB, listPages: 1000, listBytes: 192 * MIB, listMs: 2 * 60_000 };
const PAGE = 100;
const TIMEOUT_MS = 30_000;
/** GitHub allows 80 writes per minute. Use fewer, to leave some for other tools. */
const WRITES_PER_MINUTE = 60;
const HEADERS = { 'x-github-api-version': '2022-11-28', accept: 'application/vnd.github+json' };

interface Service {
  client: Client;
  /** The origin of the web pages, such as `https://github.com`. */
  site: string;
  bounds: typeof BOUNDS;
  asked: (what: string) => Asked;
  traffic: { requests: number; bytes: number; remaining: number | null };
}

/** Creates a client for GitHub's REST API (version 2022-11-28). Throws `auth` if there is no credential. */
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
  const fetch = boundFetch({
    origin: api.origin,
    timeoutMs: deps.timeoutMs ?? TIMEOUT_MS,
    maxBytes: bounds.answerBytes,
    env: deps.env,
  });
  const client = makeOctokit({
    baseUrl: api.href.replace(/(?<!\/)\/+$/, ''),
    token,
    userAgent: deps.userAgent,
    maxWaitMs: deps.maxWaitMs,
    writesPerMinute: deps.writesPerMinute ?? WRITES_PER_MINUTE,
    secondMs: deps.secondMs ?? 1000,
    fetch: metered(fetch, traffic, asked),
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

/**
 * Counts requests, and rejects responses that aren't JSON, because Octokit would treat an empty response as an
 * empty list.
 */
function metered(bound: BoundFetch, traffic: Service['traffic'], asked: Service['asked']): BoundFetch {
  return async (url, init) => {
    traffic.requests += 1;
    const response = await bound(url, init);
    const bytes = Buffer.from(await response.arrayBuffer());
    const { status, statusText, headers } = response;
    const remaining = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);
    if (Number.isFinite(remaining)) traffic.remaining = remaining;
    traffic.bytes += bytes.length;
    if (status === 200 && !/^\s*[[{]/.test(bytes.toString('latin1', 0, 100))) throw garbled(asked(url));
    const whole = new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers });
    // The pages of a search are counted by the response's address.
    return Object.defineProperty(whole, 'url', { value: url });
  };
}

type Route = Parameters<Client['request']>[0];
interface Reply {
  status: number;
  data: unknown;
  headers: { etag?: string | undefined; link?: string | undefined };
}
/** `what` names the resource in error messages, such as `#12 in ann/work`. */
interface Call {
  what: string;
  route: string;
  parameters?: object;
}
type Schema<T> = v.GenericSchema<unknown, T>;

/** Sends a request. Throws a StewardError for every failure, including a redirect. */
async function send(service: Service, { what, route, parameters = {} }: Call): Promise<Reply> {
  // Never retry a POST request. If only its response was lost, the write has already taken effect.
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

async function fetchOne<T>(service: Service, schema: Schema<T>, call: Call): Promise<T> {
  const parsed = v.safeParse(schema, (await send(service, call)).data);
  if (!parsed.success) throw garbled(service.asked(call.what));
  return parsed.output;
}

/**
 * Fetches all pages. Skips and counts malformed items, but fails if every item is malformed, or if a page
 * repeats the page before it. If there are several pages, the ETag is `null`, because an ETag covers only one
 * page.
 */
async function fetchList<T>(
  service: Service,
  schema: Schema<T>,
  { what, route, parameters }: Call,
  etag?: string,
): Promise<Conditional<T[]>> {
  const { client, asked } = service;
  const value: T[] = [];
  let [malformed, pages, lastEtag, lastPage] = [0, 0, null as string | null, ''];
  const checkBounds = boundsOf(service, what);
  const headers = { ...HEADERS, ...(etag === undefined ? {} : { 'if-none-match': etag }) };
  try {
    const iterator = client.paginate.iterator(route as Route, { ...parameters, per_page: PAGE, headers });
    for await (const reply of iterator as AsyncIterable<Reply>) {
      if (!Array.isArray(notRedirected(reply).data)) throw garbled(asked(what));
      pages += 1;
      checkBounds(pages);
      const items = (reply.data as unknown[]).map((item) => v.safeParse(schema, item));
      const found = items.flatMap((item) => (item.success ? [item.output] : []));
      malformed += items.length - found.length;
      const page = JSON.stringify(found);
      if (page === lastPage) throw garbled(asked(what));
      lastPage = page;
      // Copy the items. Otherwise, their strings would keep the whole response in memory.
      value.push(...(JSON.parse(page) as T[]));
      lastEtag = reply.headers.etag ?? null;
    }
  } catch (error) {
    const isNotModified = error instanceof Error && 'status' in error && error.status === 304;
    if (etag !== undefined && pages === 0 && isNotModified) return { unchanged: true };
    throw hostError(error, asked(what));
  }
  if (malformed > 0 && value.length === 0) throw garbled(asked(what));
  return { unchanged: false, value, etag: pages === 1 ? lastEtag : null, malformed };
}

function boundsOf({ bounds, traffic, asked }: Service, what: string): (pages: number) => void {
  const before = traffic.bytes;
  const timeout = AbortSignal.timeout(bounds.listMs);
  return (pages) => {
    const minutes = Math.round(bounds.listMs / 60_000);
    if (pages > bounds.listPages) throw tooLong(asked(what), `${bounds.listPages} pages`);
    if (traffic.bytes - before > bounds.listBytes)
      throw tooLong(asked(what), `${Math.round(bounds.listBytes / MIB)} MiB`);
    if (timeout.aborted) throw tooLong(asked(what), `what can be read in ${minutes} minutes`);
  };
}

async function fetchWhole<T>(service: Service, schema: Schema<T>, call: Call): Promise<T[]> {
  const found = await fetchList(service, schema, call);
  if (found.unchanged || found.malformed > 0) throw garbled(service.asked(call.what));
  return found.value;
}

const REPO = '/repos/{owner}/{repo}';

function inRepo(repo: string, method: string, path = '', more: object = {}): Call {
  const [owner = '', name = ''] = repo.split('/');
  return { what: repo, route: `${method} ${REPO}${path}`, parameters: { owner, repo: name, ...more } };
}

function ofIssue(repo: string, number: number, method: string, path = '', more: object = {}): Call {
  const call = inRepo(repo, method, `/issues/{issue_number}${path}`, { issue_number: number, ...more });
  return { ...call, what: `#${number} in ${repo}` };
}

type Calls<K extends keyof Host> = Pick<Host, K>;

function repositoryCalls(service: Service): Calls<'login' | 'repository' | 'createRepository'> {
  const schema = repositoryOn(service.site);
  return {
    repository: (repo) => fetchOne(service, schema, inRepo(repo, 'GET')),
    login: () => fetchLogin(service),
    async createRepository(repo) {
      const [owner = '', name = ''] = repo.split('/');
      const login = await fetchLogin(service);
      const parameters = { name, private: true, has_issues: true, auto_init: true };
      return login.toLowerCase() === owner.toLowerCase()
        ? fetchOne(service, schema, { what: repo, route: 'POST /user/repos', parameters })
        : fetchOne(service, schema, {
            what: owner,
            route: 'POST /orgs/{org}/repos',
            parameters: { org: owner, ...parameters },
          });
    },
  };
}

async function fetchLogin(service: Service): Promise<string> {
  const User = v.object({ login: v.string() });
  return (await fetchOne(service, User, { what: 'your account', route: 'GET /user' })).login;
}

function issueCalls(
  service: Service,
): Calls<'issues' | 'reviews' | 'issue' | 'createIssue' | 'updateIssue' | 'comment' | 'comments'> {
  const schema = (repo: string): Schema<HostIssue> => issueIn({ site: service.site, repo });
  const PullRequest = v.object({ pull_request: v.unknown() });
  return {
    async issues(repo, { since, etag }) {
      const query = {
        state: 'all',
        sort: 'updated',
        direction: 'asc',
        ...(since === undefined ? {} : { since }),
      };
      // Convert the issues page by page, so that thousands of issue bodies are never in memory at once.
      const item = v.union([
        v.pipe(
          PullRequest,
          v.transform(() => null),
        ),
        v.pipe(schema(repo), v.transform(toIssue)),
      ]);
      const found = await fetchList(service, item, inRepo(repo, 'GET', '/issues', query), etag);
      return found.unchanged ? found : { ...found, value: found.value.filter((issue) => issue !== null) };
    },
    reviews({ etag }) {
      const parameters = { q: 'is:open is:pr review-requested:@me archived:false', sort: 'updated' };
      const call = { what: 'review requests', route: 'GET /search/issues', parameters };
      return fetchList(service, reviewOn(service.site), call, etag);
    },
    issue: (repo, number) => fetchOne(service, schema(repo), ofIssue(repo, number, 'GET')),
    createIssue: (repo, issue) => fetchOne(service, schema(repo), inRepo(repo, 'POST', '/issues', issue)),
    updateIssue(repo, number, { stateReason, ...change }) {
      const body = { ...change, ...(stateReason === undefined ? {} : { state_reason: stateReason }) };
      return fetchOne(service, schema(repo), ofIssue(repo, number, 'PATCH', '', body));
    },
    comment(repo, number, body) {
      const url = commentUrlIn({ site: service.site, repo }, number);
      return fetchOne(service, url, ofIssue(repo, number, 'POST', '/comments', { body }));
    },
    comments: (repo, number) => fetchWhole(service, CommentData, ofIssue(repo, number, 'GET', '/comments')),
  };
}

function labelCalls(
  service: Service,
): Calls<'addLabels' | 'removeLabel' | 'labelEvents' | 'labels' | 'createLabel'> {
  return {
    addLabels: (repo, number, labels) =>
      fetchOne(service, LabelNames, ofIssue(repo, number, 'POST', '/labels', { labels })),
    async removeLabel(repo, number, label) {
      const isMissing = (error: unknown): boolean => failureOf(error)?.reason === 'missing';
      const removal = ofIssue(repo, number, 'DELETE', '/labels/{name}', { name: label });
      await send(service, removal).catch(undefinedIf(isMissing));
    },
    async labelEvents(repo, number) {
      const events = await fetchWhole(service, EventData, ofIssue(repo, number, 'GET', '/events'));
      return events.filter((event) => event !== null).sort((a, b) => a.id - b.id);
    },
    labels: (repo, { etag }) => fetchList(service, LabelData, inRepo(repo, 'GET', '/labels'), etag),
    async createLabel(repo, label) {
      await send(service, inRepo(repo, 'POST', '/labels', label));
    },
  };
}
