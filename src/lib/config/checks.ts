import { StewardError } from '../errors';
import { type Check, type Finding, failed, failure, ok, orFailure, warning } from '../platform/check';
import { isOpenToOthers } from '../platform/files/folder';
import { repositoryOf } from '../platform/files/git-folder';
import { realPath } from '../platform/files/stat';
import { forShell } from '../platform/process/spawn';
import { CONFIG_FILES } from './files';
import { type LoadedConfig, leafOf } from './load';
import { type Secret, isSecretReference, resolveSecret, secretSources } from './secret';
import type { UserArea } from './user-area';

export interface ConfigChecked {
  area: UserArea;
  loadConfig: () => Promise<LoadedConfig>;
}

export const CONFIG_CHECKS: readonly Check<ConfigChecked>[] = [
  { id: 'config.files', title: 'the configuration', needsConfig: false, run: checkFiles },
  { id: 'config.secrets', title: 'secrets', needsConfig: true, run: checkSecrets },
];

async function checkFiles({ area, loadConfig }: ConfigChecked): Promise<Finding[]> {
  try {
    const { warnings } = await loadConfig();
    const rest = warnings.filter((text) => !/; run chmod \d+ on it$/.test(text));
    if (rest.length > 0)
      return rest.map((text) => warning(text, { hint: 'Correct or remove that key or file.' }));
    const files = CONFIG_FILES.filter(({ path }) => realPath(path(area)) !== undefined);
    return [ok(files.map(({ name }) => name).join(', ') || 'no configuration files, so all defaults apply')];
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'config') throw error;
    const [, ...problems] = error.message.split('\n  ');
    if (problems.length === 0) return [failure(error)];
    return problems.map((found) => ({ ...failure(error), found }));
  }
}

/** Checks that secrets are private, that references to secrets resolve, and that git would not commit secrets. */
async function checkSecrets({ loadConfig }: ConfigChecked): Promise<Finding[]> {
  const { config, origins } = await loadConfig();
  const secrets = secretsOf(config).filter((secret) => secret.isSet);
  const findings: Finding[] = [];
  const plain = new Map<string, string[]>();
  for (const secret of secrets) {
    findings.push(
      ...(await orFailure(() => (resolveSecret(secret, secretSources()), []), { kind: 'config' })),
    );
    const origin = origins.get(secret.key);
    const file = secret.stored().startsWith('file:') ? fileOf(secret) : undefined;
    if (file !== undefined) findings.push(...openFile(file));
    if (origin?.from !== 'file' || isSecretReference(secret.stored())) continue;
    plain.set(origin.path, [...(plain.get(origin.path) ?? []), secret.key]);
  }
  for (const [path, keys] of plain) findings.push(...openFile(path), ...inRepository(path, keys));
  if (findings.length > 0) return findings;
  if (secrets.length === 0) return [ok('no secrets set')];
  const count = [...plain.values()].flat().length;
  const where = count === 0 ? 'all stored as references' : `${count} stored in private files`;
  return [ok(`${secrets.length} set, ${where}`)];
}

function fileOf(secret: Secret): string | undefined {
  const { home } = secretSources();
  const path = secret
    .stored()
    .slice('file:'.length)
    .replace(/^~(?=[/\\])/, () => home);
  return realPath(path);
}

function openFile(path: string): Finding[] {
  if (!isOpenToOthers(path)) return [];
  return [
    failed(`other users of this machine can read the secret in ${path}`, {
      fix: `chmod 600 ${forShell(path)}`,
    }),
  ];
}

/** Reports secrets in a user area that is part of a git repository, such as a dotfiles repository. */
function inRepository(path: string, keys: readonly string[]): Finding[] {
  const real = realPath(path);
  const found = real === undefined ? undefined : repositoryOf(real);
  if (found === undefined) return [];
  return keys.map((key) =>
    warning(`${key} is stored in ${path}, inside the git repository ${found.root}`, {
      hint: `Store a reference instead: steward config set ${key} env:NAME`,
    }),
  );
}

function secretsOf(value: unknown): Secret[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isSecret(value)) return [value];
  return Object.values(value).flatMap(secretsOf);
}

function isSecret(value: object): value is Secret {
  return (
    'key' in value && typeof value.key === 'string' && 'stored' in value && leafOf(value.key)?.secret === true
  );
}
