import type { GitHub } from './github';

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
