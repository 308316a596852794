import { StewardError } from '../errors';
import { CONFIG_FILES, ENVIRONMENT, dottedKey } from './files';
import { isLeaf, leavesOf, nodeAt, type AnyLeaf } from './key';
import { candidates } from './parse-value';
import { REDACTED } from './secret';
import { fileOfKey, whatIsWrong } from './validate';
import { changeConfig, type WriteDeps } from './write';

export interface SetInput {
  /** Dotted, with the prefix of its owner: `sense.pollIntervalSec`. */
  key: string;
  /** As typed: JSON, a plain text, or a list with commas, whichever fits the key. */
  value: string;
  dryRun?: boolean;
}

export interface SetResult {
  key: string;
  /** The file that owns the key. */
  file: string;
  before: unknown;
  after: unknown;
  changed: boolean;
  dryRun: boolean;
  /** A variable that stands over what was set; null when none does. */
  overriddenBy: string | null;
}

/**
 * `config set KEY VALUE` (decisions.md 1). An unknown key or a value that does not fit is `usage` and says what
 * was expected; secrets come back redacted.
 */
export async function setConfig(
  deps: WriteDeps & { env?: NodeJS.ProcessEnv },
  input: SetInput,
): Promise<SetResult> {
  const leaf = await knownLeaf(input.key);
  const value = fitting(input.key, leaf, input.value);
  const dryRun = input.dryRun === true;
  const changed = await changeConfig(deps, [{ key: input.key, to: () => value }], { dryRun });
  const own = changed.find(({ key }) => key === input.key);
  if (own === undefined) throw new StewardError('internal', `${input.key} was not set.`);
  return {
    key: input.key,
    file: own.path,
    before: shown(leaf, own.before),
    after: shown(leaf, own.after),
    changed: changed.some(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after)),
    dryRun,
    overriddenBy: overriddenBy(input.key, deps.env ?? process.env),
  };
}

/** Every key that can be set, with its owner's prefix. */
export function allKeys(): string[] {
  return CONFIG_FILES.flatMap((file) => leavesOf(file.keys).map(({ path }) => dottedKey(file, path)));
}

function fitting(key: string, leaf: AnyLeaf, text: string): unknown {
  const value = candidates(text).find((candidate) => whatIsWrong(leaf, candidate) === undefined);
  if (value !== undefined) return value;
  throw new StewardError('usage', `${key}${whatIsWrong(leaf, text) ?? ' does not fit'}.`, {
    hint: 'Nothing was written; give a value that fits.',
  });
}

async function knownLeaf(key: string): Promise<AnyLeaf> {
  const { file, path } = fileOfKey(key);
  const node = nodeAt(file.keys, path);
  if (isLeaf(node)) return node;
  if (node !== undefined) {
    const inside = leavesOf(node, path).map((found) => dottedKey(file, found.path));
    throw new StewardError('usage', `${key} is a section, not a key.`, {
      hint: `Set one of ${inside.join(', ')}.`,
    });
  }
  throw new StewardError('usage', `There is no key ${JSON.stringify(key)} in the configuration.`, {
    hint: `${await suggestion(key)}\`steward config show\` lists every key.`,
  });
}

async function suggestion(key: string): Promise<string> {
  const keys = allKeys();
  const bySuffix = keys.find((known) => known.endsWith(`.${key}`));
  if (bySuffix !== undefined) return `Did you mean ${bySuffix}? `;
  const { closest, distance } = await import('fastest-levenshtein');
  const near = closest(key, keys);
  return distance(key, near) <= Math.max(2, key.length / 3) ? `Did you mean ${near}? ` : '';
}

function shown(leaf: AnyLeaf, stored: unknown): unknown {
  if (stored === undefined) return null;
  if (!leaf.secret) return stored;
  return stored === '' ? '' : REDACTED;
}

function overriddenBy(key: string, env: NodeJS.ProcessEnv): string | null {
  const found = ENVIRONMENT.find((entry) => entry.key === key && (env[entry.name] ?? '') !== '');
  return found?.name ?? null;
}
