import { phaseNamed, PHASES } from './phases';

/**
 * What came of a notification's phase, for a person.
 *
 * @param result as the answer says it: nothing when it was written
 */
export function phaseWords(name: string, slug: string | undefined, result: string | undefined): string {
  switch (result) {
    case undefined:
      return `The phase of ${slug ?? 'the session'} is ${phaseNamed(name)?.label ?? name} now.`;
    case 'no session':
      return slug === undefined
        ? 'No phase was written: no session was active in the last two hours. See "steward sessions".'
        : `No phase was written: there is no session ${slug}. See "steward sessions --all".`;
    case 'unknown':
      return `No phase was written: "${name}" is none. They are ${PHASES.map(({ id }) => id).join(', ')}.`;
    case 'not known':
      return 'Whether the phase was written is not known: "steward sessions" shows it.';
    default:
      return `The phase was not written: "steward notify phase ${name}" says why.`;
  }
}
