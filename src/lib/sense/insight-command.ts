import { isAbsolute } from 'node:path';

import { StewardError } from '../errors';

/** The program and its arguments, of `sense.insight.command`. */
export function insightCommand(command: readonly string[]): readonly [string, ...string[]] {
  const [program = '', ...args] = command;
  if (/[\\/]/.test(program) && !isAbsolute(program)) {
    throw new StewardError('config', `sense.insight.command begins with a relative path, ${program}.`, {
      hint: 'Name a program on the PATH, or write its absolute path.',
    });
  }
  return [program, ...args];
}

/** What the environment has for the assistant beside the person's own. */
const ENVIRONMENT = {
  // Our own hooks return at once: the question is no session of the person.
  STEWARD_INTERNAL: '1',
  // What --safe-mode sets, where an older version would refuse the flag: no customisation of any kind.
  CLAUDE_CODE_SAFE_MODE: '1',
  // No update and no telemetry by the way.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

/** Credentials that would be billed in place of a subscription (service.md: Authentication). */
const CREDENTIAL = /_(?:API_KEY|AUTH_TOKEN)$/i;
/** By these the assistant knows that it was started within itself, and refuses. */
const NESTED = /^(?:CLAUDECODE|CLAUDE_CODE_ENTRYPOINT)$/i;

/** The environment that the assistant gets, and the names of the variables that were taken from it. */
export function insightEnvironment(env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; removed: string[] } {
  const removed = Object.keys(env).filter((name) => CREDENTIAL.test(name) || NESTED.test(name));
  const kept = Object.entries(env).filter(([name]) => !removed.includes(name));
  return { env: { ...Object.fromEntries(kept), ...ENVIRONMENT }, removed: removed.sort() };
}
