import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ASSISTANTS } from '../../src/lib/assistant';
import type { Assistant } from '../../src/lib/assistant/assistant';
import { PAYLOADS } from '../../test/contracts/assistant-payloads';
import { BIN, cleanEnv, definedOnly, emptyHome } from '../../test/helpers/cli';
import { hookJson } from '../../test/helpers/hooks';
import { manySessions } from '../../test/helpers/large-data';
import type { Figure, Limit } from '../figure';
import type { Program } from '../measure';

const SESSION = 'bench-0001';
const MANY = 2000;

/** An assistant waits for these at each prompt and tool call; the hook JSON comes through a pipe. */
export const FIGURES: readonly Figure[] = [
  hook('steward hook tool', 'tool', 0, 1.35),
  hook('steward hook prompt (no match)', 'prompt', 0, 1.35),
  hook('steward hook tool, 2,000 sessions', 'tool', 2000, 1.5),
  hook('steward hook prompt, 2,000 sessions', 'prompt', 2000, 1.5),
  hook('steward hook tool, 2,000 that run', 'tool', 2000, 1.5, { live: true }),
  amongMany('steward hook session-start', 'session-start'),
  amongMany('steward hook stop', 'stop'),
  amongMany('steward hook session-end', 'session-end'),
  ...ASSISTANTS.map(toolHookOf),
  shim('the shim, by hook tool of a written file', 'Write', { moreMs: 5 }),
  shim('the shim, by a tool event that it records', 'Bash', { ratio: 0.35 }),
  hook('steward statusline', undefined, 0, 1.35),
  hook('steward statusline, with limits', undefined, 0, 1.35, { limits: true }),
  hook('steward statusline, 2,000 sessions', undefined, 2000, 1.5),
  hook('steward statusline, with sense', undefined, 0, 1.35, { sense: true }),
];

/** The assistant's input for the status line. */
const LIMITS = {
  model: { id: 'some-model', display_name: 'Some model' },
  context_window: { used_percentage: 42 },
  rate_limits: {
    five_hour: { used_percentage: 63, resets_at: 4_000_000_000 },
    seven_day: { used_percentage: 31, resets_at: 4_000_000_000 },
  },
};

/** Compares a command with bare node. */
function hook(
  name: string,
  verb: 'tool' | 'prompt' | undefined,
  sessions: number,
  ratio: number,
  kind: { live?: boolean; sense?: boolean; limits?: boolean } = {},
): Figure {
  return {
    name,
    limit: { ratio },
    rounds: 40,
    prepare() {
      const home = homeWith(sessions, kind.live);
      if (kind.sense === true) steward(home, ['sense', 'init']);
      const told = kind.limits === true ? LIMITS : {};
      const input = hookJson(verb ?? 'stop', { session_id: SESSION, cwd: home.path, ...told });
      return {
        program: {
          args: verb === undefined ? [BIN, 'statusline'] : [BIN, 'hook', verb],
          env: home.env,
          input,
        },
        yardstick: { args: ['-e', '0'], env: home.env, input },
        against: 'node -e 0',
        remove: home.remove,
      };
    },
  };
}

/** Compares an assistant's tool hook, run by Node.js, with bare node. The shim records some of these without it. */
function toolHookOf({ id, hooks }: Assistant): Figure {
  return {
    name: `steward hook tool, ${id}`,
    limit: { ratio: 1.35 },
    rounds: 40,
    prepare() {
      const home = homeWith(0);
      const { event } = hooks.find(({ verb }) => verb === 'tool') ?? {};
      const input = JSON.stringify(PAYLOADS[id].find((played) => played.event === event)?.payload);
      return {
        program: { args: [BIN, 'hook', 'tool', id], env: home.env, input },
        yardstick: { args: ['-e', '0'], env: home.env, input },
        against: 'node -e 0',
        remove: home.remove,
      };
    },
  };
}

/** Compares a hook that folds the log into a state with many sessions with the same hook and one session. */
function amongMany(name: string, verb: 'session-start' | 'stop' | 'session-end'): Figure {
  return {
    name: `${name}, ${MANY} sessions`,
    limit: { ratio: 1.5 },
    rounds: 40,
    prepare() {
      const [much, little] = [homeWith(MANY), homeWith(0)];
      const program = ({ path, env }: Home): Program => ({
        args: [BIN, 'hook', verb],
        env,
        input: hookJson(verb, { session_id: SESSION, cwd: path }),
      });
      return {
        program: program(much),
        yardstick: program(little),
        against: 'one session',
        remove() {
          much.remove();
          little.remove();
        },
      };
    },
  };
}

/**
 * Measures the registered command in a shell, as the assistant runs it: against the hook itself in a shell, or, where
 * the shim needs no Node.js, against bare node.
 */
function shim(name: string, tool: string, limit: Limit): Figure {
  return {
    name,
    limit,
    rounds: 40,
    prepare() {
      const home = homeWith(0);
      mkdirSync(join(home.path, '.claude'));
      steward(home, ['hooks', 'install']);
      const settings = readFileSync(join(home.path, '.claude', 'settings.json'), 'utf8');
      const { hooks } = JSON.parse(settings) as { hooks: Record<string, { hooks: { command: string }[] }[]> };
      const command = hooks['PreToolUse']?.[0]?.hooks[0]?.command ?? '';
      const input = hookJson('tool', { session_id: SESSION, cwd: home.path, tool_name: tool });
      const inShell = (text: string): Program => ({
        file: '/bin/sh',
        args: ['-c', text],
        env: home.env,
        input,
      });
      const isBare = 'ratio' in limit;
      return {
        program: inShell(command),
        yardstick: isBare
          ? { args: ['-e', '0'], env: home.env, input }
          : inShell(`"${process.execPath}" "${BIN}" hook tool || :`),
        against: isBare ? 'node -e 0' : 'without it',
        remove: home.remove,
      };
    },
  };
}

interface Home {
  path: string;
  env: Record<string, string>;
  remove: () => void;
}

/** Creates a home with one running session and this many more, ended or running (`live`). */
function homeWith(sessions: number, live = false): Home {
  const { path, remove } = emptyHome();
  const home = { path, env: definedOnly(cleanEnv(path)), remove };
  const state = join(path, '.steward', 'state');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const text = live
    ? manySessions(sessions, new Date().toISOString()).replaceAll('"ended"', '"working"')
    : manySessions(sessions);
  if (sessions > 0) writeFileSync(join(state, 'sessions.json'), text, { mode: 0o600 });
  steward(
    home,
    ['hook', 'session-start', '--strict'],
    hookJson('session-start', { session_id: SESSION, cwd: path }),
  );
  return home;
}

function steward({ env }: Home, args: readonly string[], input = ''): void {
  const ended = spawnSync(process.execPath, [BIN, ...args], { env, input });
  if (ended.status !== 0) throw new Error(String(ended.stderr));
}
