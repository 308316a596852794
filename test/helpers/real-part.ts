import { findProgram } from '../../src/lib/platform/process/spawn';

/**
 * Skips a test whose real programs are not installed, and says how to get them.
 *
 * @param programs the program's name to the Debian package that has it
 */
export function requirePrograms(context: Mocha.Context, programs: Readonly<Record<string, string>>): void {
  const missing = Object.keys(programs).filter((program) => findProgram(program) === undefined);
  const packages = [...new Set(missing.map((program) => programs[program]))].join(' ');
  requirePart(
    context,
    missing.length === 0,
    `${missing.join(', ')} not installed: apt-get install ${packages}`,
  );
}

/**
 * Skips a test that lacks a real part. Where CI is set the part has to be there: a test that quietly does not run
 * proves nothing.
 */
export function requirePart(context: Mocha.Context, isThere: boolean, message: string): void {
  if (isThere) return;
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.log(`      skipped: ${message}`);
  context.skip();
}
