import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { GitHub, Seen } from './github';

interface Question {
  query: string;
  variables: { owner?: string; name?: string; repo?: string; number?: number; input?: object } | null;
}

interface Row {
  number: number;
  title: string;
  body: string | null;
  state: string;
  html_url: string;
  labels: { name: string; color?: string }[];
}

/**
 * What `gh issue create` and `gh issue view` ask the service's other interface, answered with what the emulator has;
 * undefined for every other question.
 */
export async function graphqlAnswer(github: GitHub, body: string): Promise<object | undefined> {
  const { query, variables } = JSON.parse(body) as Question;
  const { owner, name, repo: named, number, input } = variables ?? {};
  const at = `/repos/${owner}/${name ?? named}`;
  if (query.includes('query RepositoryInfo(')) {
    await github.api('GET', at);
    return {
      repository: {
        id: `${owner}/${name}`,
        name,
        owner: { login: owner },
        hasIssuesEnabled: true,
        description: '',
        hasWikiEnabled: false,
        viewerPermission: 'ADMIN',
        defaultBranchRef: { name: 'main' },
        parent: null,
      },
    };
  }
  if (query.includes('query RepositoryResolveMetadataIDs ')) {
    const labels = [...query.matchAll(/(\w+): label\(name:"([^"]+)"\)/g)];
    return {
      repository: Object.fromEntries(labels.map(([, key, label]) => [key, { id: label, name: label }])),
    };
  }
  if (query.includes('mutation IssueCreate(')) {
    const { repositoryId, title, body: text, labelIds } = input as Record<string, unknown>;
    const made = (await github.api('POST', `/repos/${String(repositoryId)}/issues`, {
      title,
      body: text,
      labels: labelIds ?? [],
    })) as Row;
    return { createIssue: { issue: { id: String(made.number), url: made.html_url } } };
  }
  if (query.includes('query IssueByNumber(')) {
    const row = (await github.api('GET', `${at}/issues/${number}`)) as Row;
    const labels = row.labels.map((label) => ({
      id: label.name,
      name: label.name,
      color: '',
      description: '',
    }));
    const issue = {
      __typename: 'Issue',
      id: String(row.number),
      number: row.number,
      title: row.title,
      body: row.body ?? '',
      state: row.state.toUpperCase(),
      url: row.html_url,
      labels: { nodes: labels, totalCount: labels.length },
    };
    return { repository: { hasIssuesEnabled: true, issue } };
  }
  return undefined;
}

interface Operation {
  query: Record<string, object>;
  body?: { properties?: Record<string, object> };
  /** Examples of good answers that the service has published. */
  answers: unknown[];
}

/** What GitHub has published of the operations that are used here. */
const FILE = join(__dirname, '..', 'fixtures', 'github-openapi.json');

export interface GitHubSchema {
  /** What of a request is not as published; empty when all is. */
  faultsOf: (request: Pick<Seen, 'method' | 'path' | 'body'>) => string[];
  operations: Readonly<Record<string, Operation>>;
}

export function githubSchema(): GitHubSchema {
  const { operations } = JSON.parse(readFileSync(FILE, 'utf8')) as {
    operations: Record<string, Operation>;
  };
  // A query is text: `100` is the number.
  const ajv = new Ajv2020({ strict: false, coerceTypes: true });
  addFormats.default(ajv);
  const wrong = (what: string, schema: object, value: unknown): string[] =>
    ajv.validate(schema, value) ? [] : [`${what} ${ajv.errorsText()}`];
  return {
    operations,
    faultsOf({ method, path, body }) {
      const url = new URL(path, 'http://host');
      const name = Object.keys(operations).find((one) => patternOf(one).test(`${method} ${url.pathname}`));
      if (name === undefined) return [`${method} ${url.pathname} is no operation`];
      const { query, body: schema } = operations[name]!;
      const asked = [...url.searchParams].flatMap(([key, value]) =>
        query[key] === undefined ? [`${name} takes no ${key}`] : wrong(`${name}?${key}`, query[key], value),
      );
      if (body === '' || body === '{}') return asked;
      if (schema === undefined) return [...asked, `${name} takes no body`];
      const sent = JSON.parse(body) as Record<string, unknown>;
      const known = Object.keys(schema.properties ?? { labels: {} });
      const unknown = Object.keys(sent).filter((key) => !known.includes(key));
      return [...asked, ...unknown.map((key) => `${name} takes no ${key}`), ...wrong(name, schema, sent)];
    },
  };
}

function patternOf(operation: string): RegExp {
  return new RegExp(`^${operation.replace(/\{\w+\}/g, '[^/]+')}$`);
}
