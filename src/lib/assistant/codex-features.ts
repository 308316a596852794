const SETTING = /^features\.(hooks|codex_hooks)=(true|false)/;
const INLINE = 'features={';

/**
 * Returns whether Codex's `config.toml` disables hooks. Reads only the lines of the `features` table, so that
 * it accepts files that are not valid TOML.
 */
export function disablesHooks(toml: string): boolean {
  const found = new Map<string, boolean>();
  let table = '';
  let isText = false;
  for (const raw of toml.split('\n')) {
    // Remove quotes and spaces: keys may be quoted, but neither keys nor values contain spaces.
    const line = raw.replace(/["'\s]/g, '');
    if (!isText && line.startsWith('[')) table = line.slice(1, line.indexOf(']'));
    else if (!isText) {
      const full = table === '' ? line : `${table}.${line}`;
      const settings = full.startsWith(INLINE)
        ? full
            .slice(INLINE.length)
            .split(',')
            .map((setting) => `features.${setting}`)
        : [full];
      for (const setting of settings) {
        const [, key, value] = SETTING.exec(setting) ?? [];
        if (key !== undefined) found.set(key, value === 'true');
      }
    }
    // A multi-line string begins or ends here.
    if (raw.split(/"""|'''/).length % 2 === 0) isText = !isText;
  }
  // Older Codex versions use the key `codex_hooks`.
  return (found.get('hooks') ?? found.get('codex_hooks')) === false;
}
