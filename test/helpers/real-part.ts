import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Skips a test whose real programs are not installed, and says how to get them. Where CI is set they have
 * to be there: a test that quietly does not run proves nothing.
 *
 * @param programs the program's name to the Debian package that has it
 */
export function requirePrograms(context: Mocha.Context, programs: Readonly<Record<string, string>>): void {
  const missing = Object.keys(programs).filter((program) => !isInstalled(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => programs[program]))].join(' ');
  const message = `${missing.join(', ')} not installed: apt-get install ${packages}`;
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.log(`      skipped: ${message}`);
  context.skip();
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
