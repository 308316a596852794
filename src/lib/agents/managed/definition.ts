import { StewardError } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { clean } from '../../platform/terminal/terminal';
import { TOOLSET, type ManagedClient, type Resource } from './client';

type Body = Record<string, unknown>;

export interface AgentFlags {
  name?: string | undefined;
  model?: string | undefined;
  system?: string | undefined;
  description?: string | undefined;
  noTools?: boolean;
}

const AGENT_KEYS = ['name', 'model', 'system', 'description', 'tools', 'mcp_servers', 'skills', 'metadata', 'multiagent']; // prettier-ignore

/** The body of a new agent: the file, with the flags over it. Without tools of its own it gets the toolset. */
export function agentBody(file: Body, { noTools, ...texts }: AgentFlags): Body {
  checkKeys(file, AGENT_KEYS, 'an agent');
  const body: Body = { ...file, ...defined(texts) };
  if (noTools === true) delete body['tools'];
  else body['tools'] ??= [{ type: TOOLSET }];
  needText(body, 'name', 'An agent', '--name NAME');
  if (!isObject(body['model'])) needText(body, 'model', 'An agent', '--model MODEL');
  if (body['system'] !== undefined) needText(body, 'system', 'An agent', '--system TEXT');
  const { tools = [] } = body;
  if (!Array.isArray(tools) || !tools.every((tool) => isObject(tool) && typeof tool['type'] === 'string'))
    throw wrong('tools', 'a list of objects, each with a type');
  return body;
}

export interface EnvironmentFlags {
  name?: string | undefined;
  description?: string | undefined;
  /** `unrestricted`, or `limited` where hosts are named. */
  networking?: string | undefined;
  hosts?: readonly string[];
  /** `pip:requests`, `apt:ripgrep`. */
  packages?: readonly string[];
  /** `NAME=env:VARIABLE`, `NAME=file:PATH`. */
  secrets?: readonly string[];
}

/** A secret that an environment is to have, by the reference to its value. */
export interface SecretReference {
  name: string;
  reference: string;
}

export interface EnvironmentBody {
  body: Body;
  secrets: SecretReference[];
}

const ENVIRONMENT_KEYS = ['name', 'description', 'config', 'metadata'];
const MANAGERS = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'];

/** The body of a new environment, without its secrets: their values are in no file, argument or output of steward. */
export function environmentBody(file: Body, flags: EnvironmentFlags): EnvironmentBody {
  checkKeys(file, ENVIRONMENT_KEYS, 'an environment');
  const { secrets: fileSecrets, ...config } = mapping(file['config'], 'config', 'a mapping');
  const body: Body = { ...file, ...defined({ name: flags.name, description: flags.description }) };
  needText(body, 'name', 'An environment', '--name NAME');
  const networking = networkingOf(flags) ?? config['networking'] ?? { type: 'unrestricted' };
  if (!isObject(networking) || typeof networking['type'] !== 'string')
    throw wrong('config.networking', 'a mapping with a type: unrestricted or limited');
  const packages = packagesOf(config['packages'], flags.packages ?? []);
  body['config'] = { type: 'cloud', ...config, networking, ...defined({ packages }) };
  const stored = mapping(fileSecrets, 'config.secrets', 'a mapping of names to env:NAME or file:PATH');
  return {
    body,
    secrets: [
      ...Object.entries(stored).map(([name, reference]) => checkedSecret(name, reference)),
      ...(flags.secrets ?? []).map((flag) => {
        const at = flag.indexOf('=');
        return at < 1 ? checkedSecret('', undefined) : checkedSecret(flag.slice(0, at), flag.slice(at + 1));
      }),
    ],
  };
}

/** Makes an environment; its secrets are read now, and hidden in whatever the service says of them. */
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

/** The same text or value with every one of these secrets taken out. */
function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const hide = (text: string): string =>
    secrets.reduce((hidden, secret) => (secret === '' ? hidden : hidden.replaceAll(secret, '••••')), text);
  const walk = (at: unknown): unknown => {
    if (typeof at === 'string') return hide(at);
    if (Array.isArray(at)) return at.map(walk);
    if (!isObject(at)) return at;
    return Object.fromEntries(Object.entries(at).map(([name, inner]) => [hide(name), walk(inner)]));
  };
  return walk(value) as T;
}

/** A name, which may begin with `*.`, or an address, with a port or without. */
const HOST = /^(?:(?:\*\.)?[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu;

function networkingOf({ networking, hosts = [] }: EnvironmentFlags): Body | undefined {
  if (networking === 'unrestricted' && hosts.length > 0) {
    throw new StewardError('usage', '--host only goes with limited networking.', {
      hint: 'Leave out --networking unrestricted.',
    });
  }
  const odd = hosts.find((host) => !HOST.test(host));
  if (odd !== undefined) {
    throw new StewardError('usage', `--host ${clean(odd).slice(0, 80)} is no name of a host.`, {
      hint: 'Write the name alone, such as pypi.org or *.example.org: no https://, no path.',
    });
  }
  if (hosts.length > 0) return { type: 'limited', allowed_hosts: [...hosts] };
  return networking === undefined ? undefined : { type: networking };
}

function packagesOf(stored: unknown, added: readonly string[]): Body | undefined {
  const packages = { ...mapping(stored, 'config.packages', `a mapping of ${MANAGERS.join(', ')} to lists`) };
  for (const flag of added) {
    const [, manager = '', name = ''] = /^([a-z]+):(\S+)$/.exec(flag) ?? [];
    if (!MANAGERS.includes(manager)) {
      throw new StewardError('usage', `"${clean(flag).slice(0, 80)}" does not name a package.`, {
        hint: `Write MANAGER:NAME, such as pip:requests; managers are ${MANAGERS.join(', ')}.`,
      });
    }
    const list = packages[manager];
    packages[manager] = [...(Array.isArray(list) ? list : []), name];
  }
  return Object.keys(packages).length === 0 ? undefined : packages;
}

/** A secret given as plain text is refused, and never repeated in the message. */
function checkedSecret(name: string, reference: unknown): SecretReference {
  const isReference =
    typeof reference === 'string' && /^(?:env:[A-Za-z_]\w*|file:(?:[/\\~]|[A-Za-z]:).*)$/.test(reference);
  if (/^[A-Za-z_]\w{0,127}$/.test(name) && isReference) return { name, reference };
  const named = name === '' ? '' : ` (${clean(name).slice(0, 80)})`;
  throw new StewardError('usage', `A secret is given by reference${named}.`, {
    hint: 'Write NAME=env:VARIABLE or NAME=file:PATH (absolute or from ~/); a value in the open is not taken.',
  });
}

function checkKeys(file: Body, known: readonly string[], what: string): void {
  const unknown = Object.keys(file).filter((key) => !known.includes(key));
  if (unknown.length === 0) return;
  throw new StewardError('usage', `The file of ${what} has unknown keys: ${unknown.map(clean).join(', ')}.`, {
    hint: `Known are ${known.join(', ')}.`,
  });
}

function needText(body: Body, key: string, what: string, flag: string): void {
  const value = body[key];
  if (typeof value === 'string' && value.trim() !== '') return;
  if (value !== undefined && typeof value !== 'string') throw wrong(key, 'a text');
  throw new StewardError('usage', `${what} needs a ${key}.`, {
    hint: `Give it with ${flag}, or as ${key} in the file.`,
  });
}

/** The mapping under a key of a file; empty when there is none. */
function mapping(value: unknown, key: string, expected: string): Body {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw wrong(key, expected);
  return value;
}

function wrong(key: string, expected: string): StewardError {
  return new StewardError('usage', `${key}: expected ${expected}.`, { hint: 'Correct the file.' });
}

function defined(values: Readonly<Body>): Body {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
