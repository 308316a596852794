import { newId, type FakeSession } from './session';

export function resources(
  all: Map<string, Record<string, unknown>>,
  kind: string,
  verb: string,
  id: string | undefined,
  action: string,
  body: Record<string, unknown> | undefined,
): [number, unknown] {
  if (id === undefined && verb === 'POST') {
    if (typeof body?.['name'] !== 'string') return [400, 'name: Field required'];
    const made = {
      ...body,
      id: newId(kind === 'agents' ? 'agent' : 'env'),
      type: kind === 'agents' ? 'agent' : 'environment',
      version: 1,
      created_at: new Date().toISOString(),
      archived_at: null,
    };
    all.set(made.id, made);
    return [200, made];
  }
  if (id === undefined) return [200, { data: [...all.values()], next_page: null }];
  const found = all.get(id);
  if (found === undefined) return [404, `no such ${kind}`];
  if (verb === 'POST' && action === 'archive') found['archived_at'] = new Date().toISOString();
  return [200, found];
}

export function shown(session: FakeSession): Record<string, unknown> {
  return {
    id: session.id,
    type: 'session',
    agent: { id: session.agent, type: 'agent', name: 'an agent' },
    environment_id: session.environment,
    metadata: session.metadata,
    status: session.status,
    created_at: session.created,
    archived_at: session.archived,
    title: null,
    usage: session.usage,
    stats: {},
  };
}
