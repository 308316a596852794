import * as v from 'valibot';

import { isCleanText } from './checks';
import { leaf } from './key';

/**
 * Claude Code's one-shot mode, as a plain question to its fast tier. Each flag keeps something of a person's
 * set-up away from the question; together they hold in versions that do not know safe mode (`insightEnvironment`).
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

/** The program and its arguments, of which any but the first may be empty; an empty list is the default. */
export const insightCommandLeaf = leaf<string[]>({
  expected: 'a list: a program and its arguments',
  check: v.pipe(
    v.array(
      v.pipe(
        v.string(),
        v.check((text) => text === '' || isCleanText(text)),
      ),
    ),
    v.check(([program]) => program !== ''),
  ),
  fallback: () => [...ASSISTANT],
  resolve: (stored) => (stored.length > 0 ? stored : [...ASSISTANT]),
});
