import { sep } from 'node:path';

import type { Assistant } from './assistant';
import { commandsOf, type HookInstallDeps } from './install-deps';
import { strangersIn, switchedOffBy } from './settings-hooks';
import type { StatusLineInstall } from './settings-statusline';

/** Returns the reasons why the hooks may not run as expected. */
export function warningsFor(
  deps: HookInstallDeps,
  assistant: Assistant,
  source: string | undefined,
  { statusLine, isNew }: { statusLine: StatusLineInstall | null; isNew: boolean },
): string[] {
  const path = assistant.path(deps.host);
  const off = switchedOffBy(source, path, assistant, deps.host);
  const strangers = source === undefined ? [] : strangersIn(source, path, assistant, commandsOf(deps));
  return [
    ...(deps.product.root.includes(`${sep}_npx${sep}`)
      ? [
          'steward is running from the npx cache, which npm may clear. Install steward with "npm install --global".',
        ]
      : []),
    ...(off === null
      ? []
      : [`All hooks are disabled by ${off}. steward records nothing until you change that.`]),
    ...(strangers.length > 0
      ? [`Another user area's hooks also record each event: ${strangers[0] ?? ''}`]
      : []),
    ...(assistant.pending === undefined || !isNew ? [] : [`${assistant.title}: ${assistant.pending}.`]),
    ...(statusLine === 'unsupported'
      ? [
          `The status line in ${path} is unchanged: its command cannot be quoted on Windows. Move the command to a script, then retry.`,
        ]
      : []),
  ];
}
