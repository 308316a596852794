import { StewardError } from '../errors';
import { writePhase, type PhaseWritten } from '../notify/phase';
import { PHASES } from '../sessions/phases';
import type { Context } from './context';
import { hookSettings } from './hook-settings';
import { sessionsDeps } from './sessions';

/** Joins the phase writes with the sessions; the configuration is as it is at the call. */
async function phaseWrite(context: Context, name: string, slug: string | undefined): Promise<PhaseWritten> {
  const settings = await hookSettings(context);
  const { area, clock } = context;
  const sessions = sessionsDeps({ area, clock, machineId: () => context.machineId }, settings);
  return writePhase({ sessions, tab: settings.tab }, name, slug);
}

/**
 * The effect of a notification's phase: one after the other in this process, so that the last one asked for is
 * the last one written. Says in a word what did not happen, and tells `report` of what nobody foresaw.
 */
export function phaseEffect(
  context: Context,
  report: (error: unknown) => void,
): (name: string, slug: string | undefined) => Promise<string | undefined> {
  let before: Promise<unknown> = Promise.resolve();
  return (name, slug) => {
    const mine = before
      .then(() => phaseWrite(context, name, slug))
      .then(
        (result) => (result.written ? undefined : result.why),
        (error: unknown) => {
          report(error);
          return 'not written';
        },
      );
    before = mine;
    return mine;
  };
}

/** `steward notify phase`: a name that is no phase is `usage`, no session to write it to `not_found`. */
export async function setPhase(
  context: Context,
  name: string,
  slug: string | undefined,
): Promise<Extract<PhaseWritten, { written: true }>> {
  const result = await phaseWrite(context, name, slug);
  if (result.written) return result;
  if (result.why === 'unknown') {
    throw new StewardError('usage', `"${name}" is no phase.`, {
      hint: `The phases are ${PHASES.map(({ id }) => id).join(', ')}.`,
    });
  }
  throw new StewardError(
    'not_found',
    slug === undefined ? 'No session was active in the last two hours.' : `There is no session ${slug}.`,
    { hint: 'See "steward sessions --all"; name one with --slug.' },
  );
}
