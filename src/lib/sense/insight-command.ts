import { isAbsolute } from 'node:path';

import { StewardError } from '../errors';

/**
 * Claude Code's one-shot mode, as a plain question to its fast tier. Each flag keeps something of a person's
 * set-up away from the question; together they hold in versions that do not know safe mode (`ENVIRONMENT`).
 * `--bare` would do most of it, too, but reads no subscription's login.
 */
const ASSISTANT: readonly string[] = [
  'claude',
  // Answer on stdout and exit; the question is what stands on stdin.
  '--print',
  // The fast tier.
  '--model',
  'haiku',
  // No tools at all: it can read no file and run no command.
  '--tools',
  '',
  // No settings of the person or of a project: no hooks, plugins, CLAUDE.md, or keys that they set.
  '--setting-sources',
  '',
  // No MCP server: only those of --mcp-config, and there is none.
  '--strict-mcp-config',
  // Nothing of the session on the disk.
  '--no-session-persistence',
  // One JSON object, which tells an error from an answer, and which model ran.
  '--output-format',
  'json',
  // In place of the long one that tells of folder, system and tools.
  '--system-prompt',
  'You describe what a program noted of a day. You answer with one JSON object and nothing else.',
];

/** The program and its arguments: `sense.insight.command`, or the assistant's own. */
export function insightCommand(configured: readonly string[]): readonly [string, ...string[]] {
  const [program = '', ...args] = configured.length > 0 ? configured : ASSISTANT;
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
