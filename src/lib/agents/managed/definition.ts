import { StewardError } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { clean } from '../../platform/terminal/terminal';
import { TOOLSET } from './client';

export interface AgentFlags {
  name?: string | undefined;
  model?: string | undefined;
  system?: string | undefined;
  description?: string | undefined;
  /** Undefined: the toolset. */
  noTools?: boolean;
}

/**
 * The body of a new agent: what a file says, with the flags over it (service.md: Managed-agent resources). Without
 * tools of its own it gets the toolset.
 */
export function agentBody(file: Record<string, unknown>, flags: AgentFlags): Record<string, unknown> {
  checkKeys(file, AGENT_KEYS, 'an agent');
  const { noTools, ...texts } = flags;
  const body: Record<string, unknown> = { ...file, ...defined(texts) };
  if (noTools === true) delete body['tools'];
  else body['tools'] ??= [{ type: TOOLSET }];
  needText(body, 'name', 'an agent', '--name NAME');
  if (!isObject(body['model'])) needText(body, 'model', 'an agent', '--model MODEL');
  if (body['system'] !== undefined) needText(body, 'system', 'an agent', '--system TEXT');
  const tools = body['tools'];
  const areTools =
    Array.isArray(tools) && tools.every((tool) => isObject(tool) && typeof tool['type'] === 'string');
  if (tools !== undefined && !areTools) throw wrong('tools', 'a list of objects, each with a type');
  return body;
}

const AGENT_KEYS = [
  'name',
  'model',
  'system',
  'description',
  'tools',
  'mcp_servers',
  'skills',
  'metadata',
  'multiagent',
];

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

/** A secret that an environment is to have, by the reference to where its value lies. */
export interface SecretReference {
  name: string;
  reference: string;
}

export interface EnvironmentBody {
  body: Record<string, unknown>;
  secrets: SecretReference[];
}

const ENVIRONMENT_KEYS = ['name', 'description', 'config', 'metadata'];
const MANAGERS = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'];

/**
 * The body of a new environment, without its secrets: `withSecrets` adds them, at the moment of sending. Their
 * values never stand in a file of steward, an argument or an output (decisions.md 9).
 */
export function environmentBody(file: Record<string, unknown>, flags: EnvironmentFlags): EnvironmentBody {
  checkKeys(file, ENVIRONMENT_KEYS, 'an environment');
  const stored = file['config'] ?? {};
  if (!isObject(stored)) throw wrong('config', 'a mapping');
  const { secrets: fileSecrets, ...config } = stored;
  const body: Record<string, unknown> = {
    ...file,
    ...defined({ name: flags.name, description: flags.description }),
  };
  needText(body, 'name', 'an environment', '--name NAME');
  const networking = networkingOf(flags) ?? config['networking'] ?? { type: 'unrestricted' };
  if (!isObject(networking) || typeof networking['type'] !== 'string') {
    throw wrong('config.networking', 'a mapping with a type: unrestricted or limited');
  }
  const packages = packagesOf(config['packages'], flags.packages ?? []);
  body['config'] = {
    type: 'cloud',
    ...config,
    networking,
    ...(packages === undefined ? {} : { packages }),
  };
  return { body, secrets: [...secretsOf(fileSecrets), ...(flags.secrets ?? []).map(secretFlag)] };
}

/** The body with the values of its secrets, each from `resolve`. */
export function withSecrets(
  { body, secrets }: EnvironmentBody,
  resolve: (secret: SecretReference) => string,
): { body: Record<string, unknown>; values: string[] } {
  if (secrets.length === 0) return { body, values: [] };
  const found = secrets.map((secret) => [secret.name, resolve(secret)] as const);
  const config = { ...(body['config'] as Record<string, unknown>), secrets: Object.fromEntries(found) };
  return { body: { ...body, config }, values: found.map(([, value]) => value) };
}

/** The same text or value with every one of these secrets taken out. */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value;
  const hide = (text: string): string =>
    secrets.reduce((hidden, secret) => (secret === '' ? hidden : hidden.replaceAll(secret, '••••')), text);
  const walk = (at: unknown): unknown => {
    if (typeof at === 'string') return hide(at);
    if (Array.isArray(at)) return at.map(walk);
    return isObject(at)
      ? Object.fromEntries(Object.entries(at).map(([name, inner]) => [hide(name), walk(inner)]))
      : at;
  };
  return walk(value) as T;
}

/** A name, which may begin with `*.`, or an address, with a port or without. */
const HOST = /^(?:(?:\*\.)?[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu;

function networkingOf({ networking, hosts = [] }: EnvironmentFlags): Record<string, unknown> | undefined {
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

function packagesOf(stored: unknown, added: readonly string[]): Record<string, unknown> | undefined {
  if (stored !== undefined && !isObject(stored)) {
    throw wrong('config.packages', `a mapping of ${MANAGERS.join(', ')} to lists`);
  }
  const packages: Record<string, unknown> = { ...stored };
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

function secretsOf(stored: unknown): SecretReference[] {
  if (stored === undefined || stored === null) return [];
  if (!isObject(stored)) throw wrong('config.secrets', 'a mapping of names to env:NAME or file:PATH');
  return Object.entries(stored).map(([name, reference]) => checkedSecret(name, reference));
}

function secretFlag(flag: string): SecretReference {
  const at = flag.indexOf('=');
  return checkedSecret(at < 1 ? '' : flag.slice(0, at), at < 1 ? undefined : flag.slice(at + 1));
}

/** A value given in the open is refused, and never repeated in the message. */
function checkedSecret(name: string, reference: unknown): SecretReference {
  const isReference =
    typeof reference === 'string' && /^(?:env:[A-Za-z_]\w*|file:(?:[/\\~]|[A-Za-z]:).*)$/.test(reference);
  if (/^[A-Za-z_]\w{0,127}$/.test(name) && isReference) return { name, reference };
  throw new StewardError(
    'usage',
    `A secret is given by reference${name === '' ? '' : ` (${clean(name).slice(0, 80)})`}.`,
    {
      hint: 'Write NAME=env:VARIABLE or NAME=file:PATH (absolute or from ~/); a value in the open is not taken.',
    },
  );
}

function checkKeys(file: Record<string, unknown>, known: readonly string[], what: string): void {
  const unknown = Object.keys(file).filter((key) => !known.includes(key));
  if (unknown.length === 0) return;
  throw new StewardError('usage', `The file of ${what} has unknown keys: ${unknown.map(clean).join(', ')}.`, {
    hint: `Known are ${known.join(', ')}.`,
  });
}

function needText(body: Record<string, unknown>, key: string, what: string, flag: string): void {
  const value = body[key];
  if (typeof value === 'string' && value.trim() !== '') return;
  if (value !== undefined && typeof value !== 'string') throw wrong(key, 'a text');
  throw new StewardError('usage', `${what[0]?.toUpperCase()}${what.slice(1)} needs a ${key}.`, {
    hint: `Give it with ${flag}, or as ${key} in the file.`,
  });
}

function wrong(key: string, expected: string): StewardError {
  return new StewardError('usage', `${key}: expected ${expected}.`, { hint: 'Correct the file.' });
}

function defined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
