import type { Resource, ResourceKind } from './client';
import type { SendDeps } from './outbox';
import { repeated } from './retry';

const PAGE = 100;

/** So many pages in a row without anything new are no list that ends. */
const MOST_STALE = 20;

/** Resources page by page until there are `most` of them or no more; each once. */
export async function listAll(
  deps: Pick<SendDeps, 'client' | 'clock' | 'timing' | 'signal'>,
  kind: ResourceKind,
  query: readonly (readonly [string, string])[],
  most: number,
): Promise<Resource[]> {
  const found = new Map<string, Resource>();
  let page: string | undefined;
  let stale = 0;
  do {
    const paged: [string, string][] = page === undefined ? [] : [['page', page]];
    const limit: [string, string] = ['limit', String(Math.min(PAGE, most))];
    const got = await repeated(deps, () => deps.client.list(kind, [...query, limit, ...paged]));
    const before = found.size;
    for (const resource of got.data) found.set(resource.id, resource);
    stale = found.size > before ? 0 : stale + 1;
    page = got.next === page ? undefined : got.next;
  } while (page !== undefined && found.size < most && stale < MOST_STALE);
  return [...found.values()].slice(0, most);
}
