import { DEMO_VARIABLE } from '../files/durable';

const PACKAGE = 'steward-cli';

/** A command in a text: quoted, behind a colon, or an indented line of its own. */
const COMMAND = /(["`]|: |^ +(?:\u001b\[\d+m)?)steward (?=([a-z]+))/gm;
/** Commands that are for your own data, also where the demo names them. */
const OUTSIDE_DEMO = new Set(['demo', 'up', 'init', 'install', 'uninstall']);

/**
 * Rewrites the steward commands in a text to what works here: before steward is installed, such as `npx steward
 * status` or `npm start -- --port 31338`, and in the demo. A second call changes nothing.
 */
export function typedHere(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const isStart = env['npm_lifecycle_event'] === 'start';
  const npx = env['npm_package_name'] === PACKAGE ? 'npx steward' : `npx ${PACKAGE}`;
  const program = isStart || env['npm_command'] === 'exec' ? npx : 'steward';
  const inDemo = env[DEMO_VARIABLE] === undefined ? program : `${program} demo --`;
  const typed = text.replace(COMMAND, (_, before: string, verb: string) => {
    return `${before}${OUTSIDE_DEMO.has(verb) ? program : inDemo} `;
  });
  if (!isStart) return typed;
  return typed.replace(/npx steward up(?: (?=--))?/g, (up) => `npm start${up.endsWith(' ') ? ' -- ' : ''}`);
}

/** Returns how to remove the program, as far as its folder tells how it was installed. */
export function howToRemove(root: string): string {
  if (/[\\/]_npx[\\/]/.test(root)) return 'npm keeps the program in its cache only.';
  if (/[\\/]Cellar[\\/]/.test(root)) return 'To remove the program: brew uninstall steward';
  return /[\\/]node_modules[\\/]steward-cli$/.test(root)
    ? `To remove the program: npm uninstall --global ${PACKAGE}`
    : 'Remove the program as you installed it.';
}
