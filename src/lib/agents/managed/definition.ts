import * as v from 'valibot';

import { StewardError } from '../../errors';
import { definedOnly, isObject } from '../../platform/files/json-object';
import { clean } from '../../platform/terminal/terminal';
import { TOOLSET, type ManagedClient, type Resource } from './client';

type Body = Record<string, unknown>;

const TEXT = v.pipe(v.string('text'), v.trim(), v.minLength(1, 'text'));
const TYPED = v.looseObject({ type: v.string('an object with a type') }, 'an object with a type');

interface AgentFlags {
  name?: string | undefined;
  model?: string | undefined;
  system?: string | undefined;
  description?: string | undefined;
  noTools?: boolean;
}

const ANY = v.optional(v.unknown());
const AGENT = v.strictObject({
  name: TEXT,
  model: v.union([v.looseObject({}), TEXT], 'text'),
  system: v.optional(TEXT),
  description: ANY,
  tools: v.optional(v.array(TYPED, 'a list')),
  mcp_servers: ANY,
  skills: ANY,
  metadata: ANY,
  multiagent: ANY,
});

/**
 * Builds the request body for a new agent. Flags override the file. Adds the standard toolset if `tools` is
 * not set.
 */
export function agentBody(file: Body, { noTools, ...texts }: AgentFlags): Body {
  const body: Body = { ...file, ...definedOnly(texts) };
  if (noTools === true) delete body['tools'];
  else body['tools'] ??= [{ type: TOOLSET }];
  check(AGENT, body, 'agent');
  return body;
}

interface EnvironmentFlags {
  name?: string | undefined;
  description?: string | undefined;
  networking?: string | undefined;
  hosts?: readonly string[] | undefined;
  /** Packages to install, such as `pip:requests` or `apt:ripgrep`. */
  packages?: readonly string[] | undefined;
  /** Secrets in the form `NAME=env:VARIABLE` or `NAME=file:PATH`. */
  secrets?: readonly string[] | undefined;
}

/** A reference to a secret's value, such as `env:NAME` or `file:PATH`. */
export type SecretReference = ReturnType<typeof checkedSecret>;

export type EnvironmentBody = ReturnType<typeof environmentBody>;

const MANAGERS = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'];
const CONFIG = v.nullish(
  v.looseObject(
    {
      networking: v.optional(TYPED),
      packages: v.nullish(v.record(v.string(), v.unknown(), `a mapping of ${MANAGERS.join(', ')} to lists`)),
      secrets: v.nullish(v.record(v.string(), v.unknown(), 'a mapping of names to env:NAME or file:PATH')),
    },
    'a mapping',
  ),
);
const ENVIRONMENT = v.strictObject({ name: TEXT, description: ANY, config: CONFIG, metadata: ANY });

/**
 * Builds the request body for a new environment. Returns the environment's secrets as references, not as
 * values.
 */
export function environmentBody(file: Body, flags: EnvironmentFlags) {
  const body: Body = { ...file, ...definedOnly({ name: flags.name, description: flags.description }) };
  const { secrets, ...config } = check(ENVIRONMENT, body, 'environment').config ?? {};
  const networking = networkingOf(flags) ?? config.networking ?? { type: 'unrestricted' };
  const packages = packagesOf(config.packages ?? {}, flags.packages ?? []);
  body['config'] = { type: 'cloud', ...config, networking, ...definedOnly({ packages }) };
  return {
    body,
    secrets: [
      ...Object.entries(secrets ?? {}).map(([name, reference]) => checkedSecret(name, reference)),
      ...(flags.secrets ?? []).map((flag) => {
        const at = flag.indexOf('=');
        return at < 1 ? checkedSecret('', undefined) : checkedSecret(flag.slice(0, at), flag.slice(at + 1));
      }),
    ],
  };
}

/** Creates an environment. Masks the secrets' values in the response and in errors. */
export async function createEnvironment(
  { client }: { client: Pick<ManagedClient, 'create'> },
  { body, secrets }: EnvironmentBody,
  resolve: (secret: SecretReference) => string,
): Promise<Resource> {
  const values = secrets.map((secret) => [secret.name, resolve(secret)] as const);
  const hidden = values.map(([, value]) => value);
  const config = { ...(body['config'] as Body), secrets: Object.fromEntries(values) };
  try {
    const made = await client.create('environments', values.length === 0 ? body : { ...body, config });
    return withoutSecrets(made, hidden);
  } catch (error) {
    if (!(error instanceof StewardError) || values.length === 0) throw error;
    const hint = error.hint === undefined ? {} : { hint: withoutSecrets(error.hint, hidden) };
    throw new StewardError(error.kind, withoutSecrets(error.message, hidden), hint);
  }
}

function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const hide = (text: string): string =>
    secrets.reduce((hidden, secret) => (secret === '' ? hidden : hidden.replaceAll(secret, '••••')), text);
  const walk = (item: unknown): unknown => {
    if (typeof item === 'string') return hide(item);
    if (Array.isArray(item)) return item.map(walk);
    if (!isObject(item)) return item;
    return Object.fromEntries(Object.entries(item).map(([name, inner]) => [hide(name), walk(inner)]));
  };
  return walk(value) as T;
}

/** A host name, optionally starting with `*.`, or an IP address, with an optional port. */
const HOST = /^(?:(?:\*\.)?[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu;

function networkingOf({ networking, hosts = [] }: EnvironmentFlags): Body | undefined {
  if (networking === 'unrestricted' && hosts.length > 0) {
    throw new StewardError('usage', '--host requires limited networking.', {
      hint: 'Omit "--networking unrestricted".',
    });
  }
  const invalid = hosts.find((host) => !HOST.test(host));
  if (invalid !== undefined) {
    throw new StewardError('usage', `Invalid --host "${clean(invalid).slice(0, 80)}".`, {
      hint: 'Use only a host name, such as pypi.org or *.example.org.',
    });
  }
  if (hosts.length > 0) return { type: 'limited', allowed_hosts: [...hosts] };
  return networking === undefined ? undefined : { type: networking };
}

function packagesOf(stored: Body, added: readonly string[]): Body | undefined {
  const packages = { ...stored };
  for (const flag of added) {
    const [, manager = '', name = ''] = /^([a-z]+):(\S+)$/.exec(flag) ?? [];
    if (!MANAGERS.includes(manager)) {
      throw new StewardError('usage', `Invalid --package "${clean(flag).slice(0, 80)}".`, {
        hint: `Use MANAGER:NAME, such as pip:requests. MANAGER is one of ${MANAGERS.join(', ')}.`,
      });
    }
    const list = packages[manager];
    packages[manager] = [...(Array.isArray(list) ? list : []), name];
  }
  return Object.keys(packages).length === 0 ? undefined : packages;
}

/** Throws `usage` for a plaintext secret, without repeating the secret. */
function checkedSecret(name: string, reference: unknown) {
  const isReference =
    typeof reference === 'string' && /^(?:env:[A-Za-z_]\w*|file:(?:[/\\~]|[A-Za-z]:).*)$/.test(reference);
  if (/^[A-Za-z_]\w{0,127}$/.test(name) && isReference) return { name, reference };
  const named = name === '' ? '' : ` ${clean(name).slice(0, 80)}`;
  throw new StewardError('usage', `Secret${named} must be passed by reference.`, {
    hint: 'Use NAME=env:VARIABLE or NAME=file:PATH (absolute, or starting with ~/).',
  });
}

/** Validates a definition. The `usage` error names the first invalid key. */
function check<S extends v.GenericSchema>(schema: S, body: Body, what: string): v.InferOutput<S> {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const key = v.getDotPath(issue) ?? '';
  const root = key.split('.')[0] ?? '';
  if (issue.type === 'strict_object' && issue.expected === 'never')
    throw new StewardError('usage', `Unknown key ${clean(key)} in the ${what} file.`, {
      hint: 'Remove the key.',
    });
  if (body[root] === undefined)
    throw new StewardError('usage', `The ${what} requires a ${key}.`, { hint: `Use --${key}, or set ${key} in the file.` }); // prettier-ignore
  throw new StewardError('usage', `Invalid ${key} in the ${what}: expected ${issue.message}.`, {
    hint: 'Correct the file or the flag.',
  });
}
