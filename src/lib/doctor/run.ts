import { EXIT_CODES } from '../errors';
import { within } from '../platform/time/wait';
import { failed, failure, off, type Check, type Finding, type State } from '../platform/check';

export type Found = ReturnType<typeof foundOf>;
export type Row = Found['row'];

/** The output of `doctor --json`. */
export type DoctorReport = ReturnType<typeof reportOf>;

/** Maximum number of checks to run in parallel. */
const CONCURRENCY = 6;

/** The finding for a check that is skipped because the configuration is invalid. */
export const WAITS = 'not checked: fix the configuration first';

/**
 * Runs the checks in parallel, each with the same time limit. Returns the findings in the order of `checks`.
 * @param config undefined if invalid; checks that need the configuration are then skipped
 * @param onCheck called at the start of each check
 */
export async function runChecks<At extends { config: object }>(
  checks: readonly Check<At>[],
  at: Omit<At, 'config'>,
  config: At['config'] | undefined,
  onCheck: (title: string) => void = () => undefined,
  limitMs = 60_000,
): Promise<Found[]> {
  const found: Found[][] = checks.map(() => []);
  const rest = checks.entries();
  const worker = async (): Promise<void> => {
    for (const [index, check] of rest) {
      onCheck(check.title);
      found[index] = (await findingsOf(check, at, config, limitMs)).map((finding) => foundOf(check, finding));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return found.flat();
}

async function findingsOf<At extends { config: object }>(
  check: Check<At>,
  at: Omit<At, 'config'>,
  config: At['config'] | undefined,
  limitMs: number,
): Promise<Finding[]> {
  if (check.needsConfig && config === undefined) return [off(WAITS)];
  const late = failed(`no response within ${Math.round(limitMs / 100) / 10} s`, {
    hint: 'Try again when the machine is less busy.',
  });
  try {
    const findings = check.needsConfig ? check.run({ ...at, config } as unknown as At) : check.run(at);
    return await within(limitMs, findings, [late]);
  } catch (error) {
    return [failure(error)];
  }
}

function foundOf<At extends object>({ id, title }: Check<At>, finding: Finding) {
  const { state, found, fix, hint, kind } = finding;
  return {
    row: { id, part: partOf(id), title, state, found, fix: fix ?? null, hint: hint ?? null },
    kind: state === 'failed' ? (kind ?? 'unavailable') : undefined,
  };
}

/** Returns the part that a check belongs to, such as `sense` for `sense.git`. */
export function partOf(id: string): string {
  return id.split('.', 1)[0] ?? id;
}

export function reportOf(found: readonly Found[]) {
  const counts: Record<State, number> = { ok: 0, off: 0, warning: 0, failed: 0 };
  for (const { row } of found) counts[row.state] += 1;
  const worst = counts.failed > 0 ? 'failed' : counts.warning > 0 ? 'warning' : 'ok';
  return { worst, counts, checks: found.map(({ row }) => row) };
}

/**
 * Returns exit code 3 for an invalid configuration, 4 if only a login is missing, 8 for other failures (or
 * for warnings if `strict` is set), and otherwise 0.
 */
export function exitCodeOf(found: readonly Found[], strict: boolean): number {
  const kinds = found.filter(({ row }) => row.state === 'failed').map(({ kind }) => kind);
  if (kinds.includes('config')) return EXIT_CODES.config;
  if (kinds.some((kind) => kind !== 'auth')) return EXIT_CODES.unavailable;
  if (kinds.length > 0) return EXIT_CODES.auth;
  return strict && found.some(({ row }) => row.state === 'warning') ? EXIT_CODES.unavailable : 0;
}
