import { appendChild, applyEdits } from '../platform/files/json-edit';
import type { JsonNode } from '../platform/files/json-tree';
import type { HookRegistration } from './claude-code-settings';
import {
  commandsIn,
  hooksOf,
  isBlank,
  memberOf,
  NEW_FILE,
  rootOf,
  valueOf,
  wrongShape,
} from './settings-tree';
import type { ShimCommands } from './shim-command';

/** The text of a settings file with our hooks, and what was done to it. */
export interface Added {
  text: string;
  /** Events that got an entry now. */
  events: string[];
  /** Containers that were not there: `hooks`, `hooks.Stop`. */
  created: string[];
}

/**
 * Adds an entry for each hook whose event has none of ours; every other byte stays. `undefined` stands for
 * no file. A text that is no JSON, or in which hooks stand in another shape, is `config`.
 */
export function addHooks(
  source: string | undefined,
  path: string,
  hooks: readonly HookRegistration[],
  commands: ShimCommands,
): Added {
  const events: string[] = [];
  const created: string[] = [];
  let text = isBlank(source) ? NEW_FILE : source;
  for (const hook of hooks) {
    const entry = entryOf(hook, commands);
    const table = hooksOf(text, path);
    if (table.hooks === undefined) {
      created.push('hooks', `hooks.${hook.event}`);
      text = applyEdits(text, [appendChild(text, table.root, { [hook.event]: [entry] }, 'hooks')]);
    } else {
      const groups = memberOf(table.hooks, hook.event);
      if (groups === undefined) {
        created.push(`hooks.${hook.event}`);
        text = applyEdits(text, [appendChild(text, table.hooks, [entry], hook.event)]);
      } else {
        if (groups.kind !== 'array') throw wrongShape(path, `hooks.${hook.event} is not a list`);
        if (hasHook(text, groups, hook, commands)) continue;
        text = applyEdits(text, [appendChild(text, groups, entry)]);
      }
    }
    events.push(hook.event);
  }
  return { text, events, created };
}

/** Which of these events have our entry, in the list that the assistant reads. */
export function eventsWithHooks(
  source: string,
  path: string,
  hooks: readonly HookRegistration[],
  commands: ShimCommands,
): string[] {
  const table = hooksOf(source, path);
  return hooks
    .filter(({ event, verb }) => {
      const groups = table.hooks === undefined ? undefined : memberOf(table.hooks, event);
      return groups !== undefined && hasHook(source, groups, { verb }, commands);
    })
    .map(({ event }) => event);
}

/** The commands in the settings that run another user area's hooks: each event of theirs counts there, too. */
export function strangersIn(source: string, path: string, commands: ShimCommands): string[] {
  const root = rootOf(source, path);
  const hooks = root.kind === 'object' ? memberOf(root, 'hooks') : undefined;
  const all = hooks?.kind === 'object' ? hooks.members.flatMap(({ value }) => commandsIn(source, value)) : [];
  return all.filter(
    (command) => /steward-hook(?:\.cmd)?\b/.test(command) && !commands.isMentionedIn(command),
  );
}

/** What the assistant reads at a key of the settings' top, parsed; undefined when it is not there. */
export function topValue(source: string, path: string, key: string): unknown {
  const root = rootOf(source, path);
  const node = root.kind === 'object' ? memberOf(root, key) : undefined;
  return node === undefined ? undefined : valueOf(source, node);
}

/** Ours, or one that a person built around it: with a second one each event would count twice. */
function hasHook(
  source: string,
  groups: JsonNode,
  { verb }: Pick<HookRegistration, 'verb'>,
  commands: ShimCommands,
): boolean {
  return commandsIn(source, groups).some(
    (command) =>
      commands.verbOf(command) === verb ||
      (commands.verbOf(command) === undefined && commands.isMentionedIn(command)),
  );
}

function entryOf({ verb, matcher, timeoutSec }: HookRegistration, commands: ShimCommands): unknown {
  const hook = { type: 'command', command: commands.commandFor(verb), timeout: timeoutSec };
  return { ...(matcher === undefined ? {} : { matcher }), hooks: [hook] };
}
