import { join } from 'node:path';

import { managedClient, type Credential, type ManagedClient, type Resource } from '../agents/managed/client';
import type { Prices } from '../agents/managed/turn';
import {
  withSecrets,
  withoutSecrets,
  type EnvironmentBody,
  type SecretReference,
} from '../agents/managed/definition';
import type { SendDeps } from '../agents/managed/outbox';
import { TIMING } from '../agents/managed/failure';
import type { UserConfig } from '../config/schema';
import { resolveSecret, secret, secretSources } from '../config/secret';
import { StewardError } from '../errors';
import { withLock } from '../platform/files/lock';
import { isLoopbackHost } from '../platform/net/loopback';
import { namedFile } from '../platform/files/named-file';
import { openOrigin } from '../platform/net/origin-client';
import { readStdin } from '../platform/process/stdin';
import { clean } from '../platform/terminal/terminal';
import type { Context } from './context';

/** What the commands for hosted agents call the library with. */
export interface ManagedContext {
  client: ManagedClient;
  deps: SendDeps;
  folder: string;
  prices: Prices;
  retentionDays: number;
  /** One reader of a session at a time on this machine: what is shown is shown once. */
  asReader: <T>(session: string, work: () => Promise<T>) => Promise<T>;
}

const SEND_WAIT_MS = 120_000;

/** Joins hosted agents with the configuration, the credential and the machine; `work` ends with no connection open. */
export async function withManaged<T>(
  context: Context,
  work: (managed: ManagedContext) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { config } = await context.loadConfig();
  const { managed } = config.user.agents;
  const { credential, from } = credentialOf(managed);
  const http = await openOrigin(managed.url, {
    hint: 'Check the network, and that agents.managed.url is right.',
  });
  const { clock, area, machineId } = context;
  const aborts = signal === undefined ? {} : { signal };
  const client = managedClient({ http, clock, credential, credentialFrom: from, ...aborts });
  const locked = <R>(name: string, waitMs: number, inside: () => Promise<R>): Promise<R> =>
    withLock(join(area.machine, name), { clock, machineId, waitMs }, inside);
  const deps: SendDeps = {
    client,
    clock,
    timing: { ...TIMING, silenceMs: managed.silenceSec * 1000 },
    folder: area.managed,
    alone: (session, inside) => locked(`managed-${session}-send.lock`, SEND_WAIT_MS, inside),
    ...aborts,
  };
  try {
    return await work({
      client,
      deps,
      folder: area.managed,
      prices: { input: managed.inputPrice, output: managed.outputPrice },
      retentionDays: managed.retentionDays,
      asReader: (session, inside) => locked(`managed-${session}.lock`, 0, inside),
    });
  } finally {
    await client.close();
  }
}

type ManagedConfig = UserConfig['agents']['managed'];

/** Variables of the vendor's own clients; they belong to the vendor's host. */
const VENDOR = { apiKey: 'ANTHROPIC_API_KEY', authToken: 'ANTHROPIC_AUTH_TOKEN' } as const;
const VENDOR_HOST = 'api.anthropic.com';

/** The one credential: the configured one, else the vendor's variable, for the vendor's host or this machine only. */
function credentialOf(
  config: Pick<ManagedConfig, 'url' | 'apiKey' | 'authToken'>,
  sources = secretSources(),
): { credential: Credential; from: string | undefined } {
  const { hostname } = new URL(config.url);
  const isLocal = isLoopbackHost(hostname);
  const configured = pick(
    resolveSecret(config.apiKey, sources),
    resolveSecret(config.authToken, sources),
    config.apiKey.key,
    config.authToken.key,
  );
  if (configured !== undefined) return configured;
  if (isLocal || hostname === VENDOR_HOST) {
    const vendor = pick(
      sources.env[VENDOR.apiKey],
      sources.env[VENDOR.authToken],
      VENDOR.apiKey,
      VENDOR.authToken,
    );
    if (vendor !== undefined) return vendor;
  }
  // A server on this machine may want none.
  if (isLocal) return { credential: undefined, from: undefined };
  throw new StewardError('auth', `There is no credential for ${hostname}.`, {
    hint: 'Set one by reference, such as: steward config set agents.managed.apiKey env:ANTHROPIC_API_KEY',
  });
}

function pick(
  apiKey: string | undefined,
  authToken: string | undefined,
  keyName: string,
  tokenName: string,
): { credential: Credential; from: string } | undefined {
  const [key, token] = [apiKey?.trim() ?? '', authToken?.trim() ?? ''];
  if (key !== '' && token !== '') {
    throw new StewardError(
      'auth',
      `Two credentials are set: ${keyName} and ${tokenName}. The service refuses both at once.`,
      {
        hint: 'Unset the one that you do not mean.',
      },
    );
  }
  for (const [value, name] of [
    [key, keyName],
    [token, tokenName],
  ] as const) {
    if (value !== '' && !/^[\x21-\x7e]+$/.test(value)) {
      throw new StewardError(
        'config',
        `The credential from ${name} has characters that no header can carry.`,
        {
          hint: 'Copy it again, without spaces and line breaks inside.',
        },
      );
    }
  }
  if (key !== '') return { credential: { apiKey: key }, from: keyName };
  return token === '' ? undefined : { credential: { authToken: token }, from: tokenName };
}

/** The value of an environment's secret. */
function secretValue({ name, reference }: SecretReference): string {
  const from = secret(`The secret ${name}`, reference);
  try {
    return resolveSecret(from, secretSources()) ?? '';
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'config') throw error;
    throw new StewardError('config', error.message, {
      hint: `Give ${reference.replace(/^(?:env|file):/, '')} a value, or --secret another reference.`,
      cause: error,
    });
  }
}

/** Makes an environment; its secrets are read now, and hidden in whatever the service says of them. */
export async function createEnvironment(
  { client }: Pick<ManagedContext, 'client'>,
  environment: EnvironmentBody,
): Promise<Resource> {
  const { body, values } = withSecrets(environment, secretValue);
  try {
    return withoutSecrets(await client.create('environments', body), values);
  } catch (error) {
    if (!(error instanceof StewardError) || values.length === 0) throw error;
    const hint = error.hint === undefined ? {} : { hint: withoutSecrets(error.hint, values) };
    throw new StewardError(error.kind, withoutSecrets(error.message, values), hint);
  }
}

const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/** TEXT, `@FILE`, or `@-` for stdin. */
export async function textOrFile(value: string): Promise<string> {
  if (!value.startsWith('@')) return value;
  const path = value.slice(1);
  if (path === '-') {
    const bounds = { firstByteMs: 600_000, endMs: 600_000, keepBytes: MAX_TEXT_BYTES };
    const { bytes, end } = await readStdin(bounds, () => false);
    if (end === 'end') return bytes.toString('utf8');
    const why = end === 'terminal' ? 'stdin is a terminal' : 'stdin gave too much, or did not end';
    throw new StewardError('usage', `@- reads stdin, and ${why}.`, { hint: 'Pipe the text in.' });
  }
  return namedFile(path, { maxBytes: MAX_TEXT_BYTES, instead: '@- or - stands for stdin' });
}

/** A message to an agent; an empty one is `usage`. */
export async function messageOf(value: string): Promise<string> {
  const text = await textOrFile(value);
  if (text.trim() !== '') return text;
  throw new StewardError('usage', 'There is no message.', {
    hint: 'Say in quotes what the agent is to do, or give @FILE, or @- for stdin.',
  });
}

/** The mapping in a YAML (or JSON) file; none without a path. A mistake in it is `usage`, with its line and column. */
export async function definitionFile(path: string | undefined): Promise<Record<string, unknown>> {
  if (path === undefined) return {};
  const text = await textOrFile(`@${path}`);
  const { parseYaml } = await import('../config/text');
  const parsed = await parseYaml(text);
  if ('problem' in parsed) {
    const { line, column, message } = parsed.problem;
    throw new StewardError('usage', `${clean(path)}, line ${line}, column ${column}: ${message}.`, {
      hint: 'Correct the file.',
    });
  }
  const { value } = parsed;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new StewardError('usage', `${clean(path)} holds no mapping of keys and values.`, {
    hint: 'Write keys such as name: and model: into it.',
  });
}
