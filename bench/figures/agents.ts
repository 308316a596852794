import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, definedOnly, emptyHome } from '../../test/helpers/cli';
import type { Figure } from '../figure';

const REQUEST = 'Launch three custom agents to review the plan, then research what is missing';

/** An assistant's hook waits for routing at each prompt. */
export const FIGURES: readonly Figure[] = [
  route('agents route', 0, ['agents', 'route', REQUEST, '--json']),
  route('agents route, 40 named agents', 40, ['agents', 'route', REQUEST, '--json']),
  route('agents route, hook JSON', 0, ['agents', 'route', '--json'], JSON.stringify({ hook_event_name: 'UserPromptSubmit', session_id: 'bench', prompt: REQUEST })),
]; // prettier-ignore

function route(name: string, agents: number, args: readonly string[], input?: string): Figure {
  return {
    name,
    limit: { ratio: 3 },
    rounds: 40,
    prepare() {
      const home = emptyHome();
      const env = definedOnly(cleanEnv(home.path));
      const folder = join(home.path, '.steward', 'agents');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (let n = 0; n < agents; n += 1) {
        writeFileSync(
          join(folder, `agent-${n}.md`),
          `---\nname: Agent${n}\nrole: reviewer ${n}\n---\n\nHas seen a lot.\n`,
        );
      }
      return {
        program: { args: [BIN, ...args], env, ...(input === undefined ? {} : { input }) },
        yardstick: { args: ['-e', '0'], env, ...(input === undefined ? {} : { input }) },
        against: 'node -e 0',
        remove: home.remove,
      };
    },
  };
}
