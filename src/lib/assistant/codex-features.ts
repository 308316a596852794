const SETTING = /^features\.(hooks|codex_hooks)=(true|false)/;
const INLINE = 'features={';

/**
 * Returns whether Codex's `config.toml` disables hooks. Reads only the `features` table, so that invalid TOML
 * elsewhere doesn't matter.
 */
export function disablesHooks(toml: string): boolean {
  const found = new Map<string, boolean>();
  let table = '';
  let isText = false;
  for (const raw of toml.split('\n')) {
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
    // An odd number of triple quotes begins or ends a multi-line string.
    if (raw.split(/"""|'''/).length % 2 === 0) isText = !isText;
  }
  // Older Codex versions use the key `codex_hooks`.
  return (found.get('hooks') ?? found.get('codex_hooks')) === false;
}
