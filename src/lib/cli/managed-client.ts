import { custom } from '@oclif/core/args';

import {
  credentialFor,
  managedClient,
  VENDOR_NAMES,
  type ManagedClient,
  type Resource,
} from '../agents/managed/client';
import {
  createEnvironment as create,
  type EnvironmentBody,
  type SecretReference,
} from '../agents/managed/definition';
import { checkedId } from '../agents/managed/event';
import { TIMING } from '../agents/managed/failure';
import type { SendDeps } from '../agents/managed/outbox';
import type { UserConfig } from '../config/schema';
import { resolveSecret, secret, secretSources } from '../config/secret';
import { StewardError } from '../errors';
import { withMachineLock } from '../platform/files/lock';
import { openOrigin } from '../platform/net/origin-client';
import type { Context } from '../app/context';

/** The id of a hosted session. */
export const sessionArg = custom<string>({
  ignoreStdin: true,
  description: 'Session id.',
  parse: (text) => Promise.resolve(checkedId(text)),
});
export const hostedSession = sessionArg({ required: true });

export interface ManagedContext {
  client: ManagedClient;
  deps: SendDeps;
  folder: string;
  /** Runs `work` under the session's read lock, so that only one process on this machine shows the events. */
  asReader: <T>(session: string, work: () => Promise<T>) => Promise<T>;
}

const SEND_WAIT_MS = 120_000;

/** Opens a client for hosted agents, runs `work`, and closes the client's connections. */
export async function withManaged<T>(
  context: Context,
  work: (managed: ManagedContext) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { config } = await context.loadConfig();
  const { managed } = config.user.agents;
  const { credential, from } = credentialFor(managed.url, ...credentialsOf(managed));
  const http = await openOrigin(managed.url, {
    hint: 'Check the network and agents.managed.url.',
  });
  const { clock, area } = context;
  const client = managedClient({ http, clock, credential, credentialFrom: from, signal });
  const deps: SendDeps = {
    client,
    clock,
    timing: TIMING,
    folder: area.managed,
    alone: (session, inside) => withMachineLock(context, `managed-${session}-send`, SEND_WAIT_MS, inside),
    signal,
  };
  try {
    return await work({
      client,
      deps,
      folder: area.managed,
      asReader: (session, inside) => withMachineLock(context, `managed-${session}`, 0, inside),
    });
  } finally {
    await client.close();
  }
}

/** Returns the configured credential, falling back to the vendor's environment variables. */
function credentialsOf({ apiKey }: UserConfig['agents']['managed']) {
  const sources = secretSources();
  const [key, token] = VENDOR_NAMES;
  const configured = resolveSecret(apiKey, sources);
  const kind = configured?.startsWith('sk-ant-oat') === true ? 'authToken' : 'apiKey';
  return [
    { apiKey: undefined, authToken: undefined, [kind]: configured, names: [apiKey.key, apiKey.key] },
    { apiKey: sources.env[key], authToken: sources.env[token], names: VENDOR_NAMES },
  ] as const;
}

/** Creates an environment after resolving its secrets. */
export function createEnvironment(managed: ManagedContext, environment: EnvironmentBody): Promise<Resource> {
  return create(managed, environment, secretValue);
}

function secretValue({ name, reference }: SecretReference): string {
  const from = secret(`The secret ${name}`, reference);
  try {
    return resolveSecret(from, secretSources()) ?? '';
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'config') throw error;
    throw new StewardError('config', error.message, {
      hint: `Set ${reference.replace(/^(?:env|file):/, '')}, or pass another reference with --secret.`,
      cause: error,
    });
  }
}
