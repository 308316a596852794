import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { NO_DESKTOP, startNamespace, type Namespace } from './namespace';

/** Terminals of a machine without a desktop, which no program outside sees or types on. */
export interface Terminals {
  /** Opens a terminal with a program in it, as ssh does. The first is /dev/pts/0. */
  open: (cwd: string, ...command: string[]) => void;
  type: (index: number, text: string) => void;
  exec: Namespace['exec'];
  stop: () => Promise<void>;
}

/** Opens terminals and types on them by the lines of a pipe, and throws away what they show. */
const DRIVER = `
import json, os, pty, select, sys
orders = os.open(sys.argv[1], os.O_RDWR)
masters, rest = [], b''
while True:
    ready = select.select([orders, *masters], [], [])[0]
    for fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b''
        if fd != orders:
            if not data:
                masters.remove(fd)
            continue
        *lines, rest = (rest + data).split(b'\\n')
        for line in map(json.loads, lines):
            if 'command' in line:
                pid, master = pty.fork()
                if pid == 0:
                    os.chdir(line['cwd'])
                    os.execvpe(line['command'][0], line['command'], {**os.environ, 'TERM': 'xterm'})
                masters.append(master)
            else:
                os.write(masters[line['index']], line['text'].encode())
`;

/** Needs root, for a namespace with its own /dev/pts. */
export async function startTerminals(folder: string, env: NodeJS.ProcessEnv): Promise<Terminals> {
  mkdirSync(folder, { recursive: true });
  const pipe = join(folder, 'orders');
  const driver = join(folder, 'driver.py');
  writeFileSync(driver, DRIVER);
  const setUp = [
    'mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts',
    'mount --bind /dev/pts/ptmx /dev/ptmx',
    NO_DESKTOP,
    `mkfifo ${pipe}`,
    `setsid python3 ${driver} ${pipe} &`,
  ].join('\n');
  const { exec, stop } = await startNamespace(folder, setUp, env);
  const order = (line: unknown): void => appendFileSync(pipe, `${JSON.stringify(line)}\n`);
  return {
    open: (cwd, ...command) => order({ cwd, command }),
    type: (index, text) => order({ index, text }),
    exec,
    stop,
  };
}
