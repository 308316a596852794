const PACKAGE = 'steward-cli';

/** A command in a text: quoted, behind a colon, or an indented line of its own. */
const COMMAND = /(["`]|: |^ +(?:\u001b\[\d+m)?)steward (?=[a-z])/gm;

/**
 * Rewrites the steward commands in a text to what works before steward is installed, such as `npx steward
 * status` or `npm start -- --port 31338`. Leaves them unchanged if npm didn't start this process.
 */
export function typedHere(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const isStart = env['npm_lifecycle_event'] === 'start';
  if (!isStart && env['npm_command'] !== 'exec') return text;
  const program = env['npm_package_name'] === PACKAGE ? 'npx steward' : `npx ${PACKAGE}`;
  const typed = text.replace(COMMAND, `$1${program} `);
  if (!isStart) return typed;
  return typed.replace(/npx steward up(?: (?=--))?/g, (up) => `npm start${up.endsWith(' ') ? ' -- ' : ''}`);
}

/** Returns how to remove the program, as far as its folder tells how it was installed. */
export function howToRemove(root: string): string {
  if (/[\\/]Cellar[\\/]/.test(root)) return 'To remove the program: brew uninstall steward';
  return /[\\/]node_modules[\\/]steward-cli$/.test(root)
    ? `To remove the program: npm uninstall --global ${PACKAGE}`
    : 'Remove the program as you installed it.';
}
