import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FakeCrontab {
  /** A PATH on which `crontab` is this one. */
  path: string;
  text: () => string | undefined;
}

/**
 * The program `crontab` over a file, so that no crontab of this machine is touched; nothing runs the jobs. With
 * CRONTAB_KILL=before or =after in its environment it kills whoever called it to change something, on that side of the change.
 */
export function fakeCrontab(folder: string): FakeCrontab {
  mkdirSync(folder, { recursive: true });
  const table = join(folder, 'table');
  const program = join(folder, 'crontab');
  writeFileSync(
    program,
    `#!/bin/sh
table='${table}'
if [ "$1" = -l ]; then
  [ -f "$table" ] || { echo 'no crontab for ada' >&2; exit 1; }
  exec cat "$table"
fi
[ "$1" = -r ] || cat >"$table.new"
[ "\${CRONTAB_KILL-}" != before ] || { kill -9 "$PPID"; exit 1; }
if [ "$1" = -r ]; then rm -f "$table"; else mv "$table.new" "$table"; fi
[ "\${CRONTAB_KILL-}" != after ] || kill -9 "$PPID"
`,
  );
  chmodSync(program, 0o755);
  return {
    path: `${folder}:${process.env['PATH'] ?? ''}`,
    text: () => (existsSync(table) ? readFileSync(table, 'utf8') : undefined),
  };
}
