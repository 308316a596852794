import type { Resource, ResourceKind } from './client';
import type { SendDeps } from './outbox';
import { repeated } from './retry';

const PAGE = 100;

/** Resources page by page until there are `most` of them or no more; each once. */
export async function listAll(
  deps: Pick<SendDeps, 'client' | 'clock' | 'timing' | 'signal'>,
  kind: ResourceKind,
  query: readonly (readonly [string, string])[],
  most: number,
): Promise<Resource[]> {
  const found = new Map<string, Resource>();
  let page: string | undefined;
  do {
    const paged: [string, string][] = page === undefined ? [] : [['page', page]];
    const limit: [string, string] = ['limit', String(Math.min(PAGE, most))];
    const got = await repeated(deps, () => deps.client.list(kind, [...query, limit, ...paged]));
    for (const resource of got.data) found.set(resource.id, resource);
    page = got.next === page ? undefined : got.next;
  } while (page !== undefined && found.size < most);
  return [...found.values()].slice(0, most);
}
