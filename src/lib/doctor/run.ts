import { failed, failure, off, type Check, type Finding, type State } from '../platform/check';
import { EXIT_CODES } from '../platform/terminal/error-report';

/** A line of the report. */
export interface Row {
  id: string;
  part: string;
  title: string;
  state: State;
  found: string;
  /** The command that mends it; null: there is none, or nothing to mend. */
  mend: string | null;
  /** What else to do. */
  hint: string | null;
}

/** `doctor --json`. */
export interface DoctorReport {
  /** The worst of all lines; `off` counts as ok. */
  worst: Exclude<State, 'off'>;
  counts: Record<State, number>;
  checks: Row[];
}

export interface Found {
  row: Row;
  kind: Finding['kind'];
}

/** So many at once: most wait for another program or a server. */
const AT_ONCE = 6;
const LIMIT_MS = 15_000;

/** What is said of a check that needs the configuration, where that is broken. */
export const WAITS = 'not looked at: the configuration has to be mended first';

/**
 * Runs the checks, several at once and each for so long at most, and gives what they found in the order of the table.
 *
 * @param config undefined: it could not be loaded; what needs it is not looked at
 * @param onCheck told of each check that begins
 */
export async function runChecks<At extends { config: object }>(
  checks: readonly Check<At>[],
  at: Omit<At, 'config'>,
  config: At['config'] | undefined,
  onCheck: (title: string) => void = () => undefined,
): Promise<Found[]> {
  const found: Found[][] = checks.map(() => []);
  const rest = checks.entries();
  const worker = async (): Promise<void> => {
    for (const [index, check] of rest) {
      onCheck(check.title);
      found[index] = (await findingsOf(check, at, config)).map((finding) => foundOf(check, finding));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found.flat();
}

async function findingsOf<At extends { config: object }>(
  check: Check<At>,
  at: Omit<At, 'config'>,
  config: At['config'] | undefined,
): Promise<Finding[]> {
  if (check.needsConfig && config === undefined) return [off(WAITS)];
  const limitMs = check.limitMs ?? LIMIT_MS;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    const words = `no answer in ${Math.round(limitMs / 100) / 10} s`;
    const hint = 'Run it again when the machine is less busy.';
    timer = setTimeout(() => resolve([failed(words, { hint })]), limitMs);
  });
  try {
    const begun = check.needsConfig ? check.run({ ...at, config } as unknown as At) : check.run(at);
    return await Promise.race([begun, late]);
  } catch (error) {
    return [failure(error)];
  } finally {
    clearTimeout(timer);
  }
}

function foundOf<At extends object>({ id, title }: Check<At>, finding: Finding): Found {
  const { state, found, mend, hint, kind } = finding;
  return {
    row: { id, part: partOf(id), title, state, found, mend: mend ?? null, hint: hint ?? null },
    kind: state === 'failed' ? (kind ?? 'unavailable') : undefined,
  };
}

/** `sense` of `sense.git`. */
export function partOf(id: string): string {
  return id.split('.', 1)[0] ?? id;
}

export function reportOf(found: readonly Found[]): DoctorReport {
  const counts: Record<State, number> = { ok: 0, off: 0, warning: 0, failed: 0 };
  for (const { row } of found) counts[row.state] += 1;
  const worst = counts.failed > 0 ? 'failed' : counts.warning > 0 ? 'warning' : 'ok';
  return { worst, counts, checks: found.map(({ row }) => row) };
}

/**
 * The exit code by the worst line: 3 when the configuration is wrong, since nothing that stands on it was looked at;
 * 8 when something else that should work does not; 4 when it is only a login; 0 otherwise, with `strict` 8 for a
 * warning, too.
 */
export function exitCodeOf(found: readonly Found[], strict: boolean): number {
  const kinds = found.filter(({ row }) => row.state === 'failed').map(({ kind }) => kind);
  if (kinds.includes('config')) return EXIT_CODES.config;
  if (kinds.some((kind) => kind !== 'auth')) return EXIT_CODES.unavailable;
  if (kinds.length > 0) return EXIT_CODES.auth;
  return strict && found.some(({ row }) => row.state === 'warning') ? EXIT_CODES.unavailable : 0;
}
