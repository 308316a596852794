import type { Clock } from '../../platform/time/clock';
import { boundFetch } from '../../platform/net/fetch';
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
import type { Conditional, Host, HostIssue, Repository } from './index';
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
/** A page of the longest issues is smaller; 1000 pages are 100,000 issues. */
const BOUNDS: Bounds = {
  answerBytes: 32 * MIB,
  listPages: 1000,
  listBytes: 512 * MIB,
  listMs: 15 * 60_000,
};

const PAGE = 100;
const TIMEOUT_MS = 30_000;
/** 80 creations a minute are allowed; some are left to the person. */
const WRITES_PER_MINUTE = 60;

/** GitHub's REST API (version 2022-11-28) as a Host. Without a credential `auth`. */
export async function githubHost(deps: GitHubDeps): Promise<Host> {
  const api = apiUrl(deps.env);
  const credential = await findCredential(deps, api);
  const { makeOctokit } = await import('./octokit');
  const bounds = deps.bounds ?? BOUNDS;
  let requests = 0;
  let received = 0;
  let remaining: number | null = null;
  const bound = boundFetch({
    origin: api.origin,
    timeoutMs: deps.timeoutMs ?? TIMEOUT_MS,
    maxBytes: bounds.answerBytes,
    env: deps.env,
  });
  const asked = (what: string): Asked => ({
    host: api.host,
    what,
    credential: credential.from,
    nowMs: deps.clock.now(),
  });
  const client = makeOctokit({
    baseUrl: api.href.replace(/(?<!\/)\/+$/, ''),
    token: credential.token,
    userAgent: deps.userAgent,
    maxWaitMs: deps.maxWaitMs,
    writesPerMinute: deps.writesPerMinute ?? WRITES_PER_MINUTE,
    secondMs: deps.secondMs ?? 1000,
    fetch: async (url, init) => {
      requests += 1;
      const answer = await bound(url, init);
      const left = Number(answer.headers.get('x-ratelimit-remaining') ?? Number.NaN);
      if (Number.isFinite(left)) remaining = left;
      // The library takes an empty answer for an empty list, and a text for anything.
      const text = await answer.clone().text();
      received += text.length;
      if (answer.status === 200 && !/^\s*[[{]/.test(text)) throw garbled(asked(url));
      return answer;
    },
  });
  return {
    tokenHash: tokenHash(credential.token),
    usage: () => ({ requests, remaining }),
    ...calls(client, asked, { site: siteOf(api), bounds, received: () => received }),
  };
}

type Route = Parameters<Client['request']>[0];
type Calls = Omit<Host, 'tokenHash' | 'usage'>;
interface Reply {
  status: number;
  data: unknown;
  headers: { etag?: string | undefined; link?: string | undefined };
}

const HEADERS = { 'x-github-api-version': '2022-11-28', accept: 'application/vnd.github+json' };

/** The service's site, and what was received so far in all, in UTF-16 units. */
interface Means {
  site: string;
  bounds: Bounds;
  received: () => number;
}

function calls(client: Client, asked: (what: string) => Asked, { site, bounds, received }: Means): Calls {
  /** One request; whatever goes wrong is a StewardError. A redirect comes back as an answer and is none. */
  const send = async (what: string, route: string, parameters: object = {}): Promise<Reply> => {
    const headers = { ...HEADERS, ...(parameters as { headers?: object }).headers };
    // Sent once: a create or a comment whose answer was lost may have taken effect.
    const once = route.startsWith('POST') ? { request: { retries: 0 } } : {};
    try {
      const reply = (await client.request(route as Route, { ...parameters, ...once, headers })) as Reply;
      if (reply.status >= 300) throw Object.assign(new Error('redirect'), { response: reply });
      return reply;
    } catch (error) {
      throw hostError(error, asked(what));
    }
  };
  const one = <T>(what: string, reply: Reply, read: (data: Data) => T | undefined): T => {
    const value = isData(reply.data) ? read(reply.data) : undefined;
    if (value === undefined) throw garbled(asked(what));
    return value;
  };
  /**
   * All pages, or unchanged. Only the ETag of an answer of one page stands for the whole. A malformed item is skipped
   * and counted; a list of nothing else is garbled.
   */
  const list = async <T>(
    what: string,
    route: string,
    parameters: object,
    read: (data: Data) => T | undefined,
    etag?: string,
  ): Promise<Conditional<T[]>> => {
    const value: T[] = [];
    let malformed = 0;
    let pages = 0;
    let mark: string | null = null;
    const before = received();
    const late = AbortSignal.timeout(bounds.listMs);
    const headers = { ...HEADERS, ...(etag === undefined ? {} : { 'if-none-match': etag }) };
    try {
      const iterator = client.paginate.iterator(route as Route, { ...parameters, per_page: PAGE, headers });
      for await (const reply of iterator as AsyncIterable<Reply>) {
        if (reply.status >= 300) throw Object.assign(new Error('redirect'), { response: reply });
        if (!Array.isArray(reply.data)) throw garbled(asked(what));
        pages += 1;
        if (pages > bounds.listPages) throw endless(asked(what), `${bounds.listPages} pages`);
        if (received() - before > bounds.listBytes)
          throw endless(asked(what), `${Math.round(bounds.listBytes / MIB)} MiB`);
        if (late.aborted)
          throw endless(asked(what), `${Math.round(bounds.listMs / 60_000)} minutes can read`);
        for (const item of reply.data as unknown[]) {
          const found = isData(item) ? read(item) : undefined;
          if (found === undefined) malformed += 1;
          else value.push(found);
        }
        mark = reply.headers.etag ?? null;
      }
    } catch (error) {
      if (etag !== undefined && pages === 0 && isNotModified(error)) return { unchanged: true };
      throw hostError(error, asked(what));
    }
    if (malformed > 0 && value.length === 0) throw garbled(asked(what));
    return { unchanged: false, value, etag: pages === 1 ? mark : null, malformed };
  };
  /** A list in which each item counts. */
  const whole = async <T>(
    what: string,
    route: string,
    parameters: object,
    read: (data: Data) => T | undefined,
  ) => {
    const found = await list(what, route, parameters, read);
    if (found.unchanged || found.malformed > 0) throw garbled(asked(what));
    return found.value;
  };
  const at = (repo: string, number?: number): { owner: string; repo: string; issue_number?: number } => {
    const [owner = '', name = ''] = repo.split('/');
    return { owner, repo: name, ...(number === undefined ? {} : { issue_number: number }) };
  };
  const issueIn =
    (repo: string) =>
    (data: Data): HostIssue | undefined =>
      readIssue(data, { site, repo });
  const repositoryIn = (data: Data): Repository | undefined => readRepository(data, site);
  const issueName = (repo: string, number: number): string => `#${number} of ${repo}`;
  const ISSUE = '/repos/{owner}/{repo}/issues/{issue_number}';

  return {
    async repository(repo) {
      return one(repo, await send(repo, 'GET /repos/{owner}/{repo}', at(repo)), repositoryIn);
    },
    async createRepository(repo) {
      const { owner, repo: name } = at(repo);
      const user = one('your account', await send('your account', 'GET /user'), (data) =>
        textOf(data['login']),
      );
      const settings = { name, private: true, has_issues: true, auto_init: true };
      const reply =
        user.toLowerCase() === owner.toLowerCase()
          ? await send(repo, 'POST /user/repos', settings)
          : await send(owner, 'POST /orgs/{org}/repos', { org: owner, ...settings });
      return one(repo, reply, repositoryIn);
    },
    async issues(repo, { since, etag }) {
      const query = {
        state: 'all',
        sort: 'updated',
        direction: 'asc',
        ...(since === undefined ? {} : { since }),
      };
      const found = await list(
        repo,
        'GET /repos/{owner}/{repo}/issues',
        { ...at(repo), ...query },
        (data) => (data['pull_request'] === undefined ? issueIn(repo)(data) : null),
        etag,
      );
      if (found.unchanged) return found;
      return { ...found, value: found.value.filter((issue) => issue !== null) };
    },
    async issue(repo, number) {
      const what = issueName(repo, number);
      return one(what, await send(what, `GET ${ISSUE}`, at(repo, number)), issueIn(repo));
    },
    async createIssue(repo, issue) {
      const route = 'POST /repos/{owner}/{repo}/issues';
      return one(repo, await send(repo, route, { ...at(repo), ...issue }), issueIn(repo));
    },
    async updateIssue(repo, number, { stateReason, ...change }) {
      const what = issueName(repo, number);
      const body = { ...change, ...(stateReason === undefined ? {} : { state_reason: stateReason }) };
      return one(what, await send(what, `PATCH ${ISSUE}`, { ...at(repo, number), ...body }), issueIn(repo));
    },
    async addLabels(repo, number, labels) {
      const what = issueName(repo, number);
      const reply = await send(what, `POST ${ISSUE}/labels`, { ...at(repo, number), labels });
      return labelNames(reply.data) ?? fail(asked(what));
    },
    async removeLabel(repo, number, label) {
      const what = issueName(repo, number);
      try {
        await send(what, `DELETE ${ISSUE}/labels/{name}`, { ...at(repo, number), name: label });
      } catch (error) {
        if (failureOf(error)?.reason !== 'missing') throw error;
      }
    },
    async comment(repo, number, body) {
      const what = issueName(repo, number);
      const reply = await send(what, `POST ${ISSUE}/comments`, { ...at(repo, number), body });
      return one(what, reply, (data) => readCommentUrl(data, { site, repo }, number));
    },
    async comments(repo, number) {
      return whole(issueName(repo, number), `GET ${ISSUE}/comments`, at(repo, number), readComment);
    },
    async labelEvents(repo, number) {
      const what = issueName(repo, number);
      const events = await whole(what, `GET ${ISSUE}/events`, at(repo, number), readEvent);
      return events.filter((event) => event !== null).sort((a, b) => a.id - b.id);
    },
    async labels(repo, { etag }) {
      return list(repo, 'GET /repos/{owner}/{repo}/labels', at(repo), readLabel, etag);
    },
    async createLabel(repo, label) {
      await send(repo, 'POST /repos/{owner}/{repo}/labels', { ...at(repo), ...label });
    },
  };
}

function fail(asked: Asked): never {
  throw garbled(asked);
}

function isNotModified(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 304;
}
