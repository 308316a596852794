import type { Config } from '../config/schema';
import { failed, failure, off, type Check, type DoctorContext, type Finding } from './finding';
import type { Found } from './report';

/** So many at once: most wait for another program or a server. */
const AT_ONCE = 6;
const LIMIT_MS = 15_000;

/**
 * Runs the checks, several at once and each for so long at most, and gives what they found in the order of the table.
 *
 * @param config undefined: it could not be loaded; what needs it is not looked at
 * @param onCheck told of each check that begins
 */
export async function runChecks(
  checks: readonly Check[],
  at: DoctorContext,
  config: Config | undefined,
  onCheck: (title: string) => void = () => undefined,
): Promise<Found[]> {
  const found: Found[][] = checks.map(() => []);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next; index < checks.length; index = next) {
      next += 1;
      const check = checks[index] as Check;
      onCheck(check.title);
      found[index] = (await findingsOf(check, at, config)).map((finding) => foundOf(check, finding));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found.flat();
}

async function findingsOf(check: Check, at: DoctorContext, config: Config | undefined): Promise<Finding[]> {
  if (check.needsConfig && config === undefined) return [off(WAITS)];
  const limitMs = check.limitMs ?? LIMIT_MS;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    const words = `no answer in ${Math.round(limitMs / 100) / 10} s`;
    timer = setTimeout(
      () => resolve([failed(words, { hint: 'Run it again when the machine is less busy.' })]),
      limitMs,
    );
  });
  try {
    return await Promise.race([begin(check, at, config), late]);
  } catch (error) {
    return [failure(error)];
  } finally {
    clearTimeout(timer);
  }
}

/** What is said of a check that needs the configuration, where that is broken. */
export const WAITS = 'not looked at: the configuration has to be mended first';

async function begin(check: Check, at: DoctorContext, config: Config | undefined): Promise<Finding[]> {
  if (!check.needsConfig) return check.run(at);
  return config === undefined ? [] : check.run({ ...at, config });
}

function foundOf({ id, part, title }: Check, { state, found, mend, hint, kind }: Finding): Found {
  return {
    row: { id, part, title, state, found, mend: mend ?? null, hint: hint ?? null },
    kind: state === 'failed' ? (kind ?? 'unavailable') : undefined,
  };
}
