import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Outcome {
  code: number | null;
  output: string;
  /** The files and links that the script left, without what the package databases and logs keep. */
  left: string[];
}

/** A script that runs in a fresh root. */
export interface RunningScript {
  /** What it has written so far. */
  output: () => string;
  /** Answers its `read`. */
  goOn: () => void;
}

/** The programs of a machine with Node.js and git only. */
const PROGRAMS = join(__dirname, '..', '..', '.ci', 'programs.txt');

/** Skips a test where this user cannot lay a file system over the root. */
export function requireFreshRoot(context: Mocha.Context): void {
  const { status } = spawnSync('unshare', [
    '--mount',
    'sh',
    '-c',
    'mount -t overlay -o lowerdir=/usr:/etc overlay /mnt',
  ]);
  if (status === 0) return;
  console.log('      skipped: only root can lay a file system over another');
  context.skip();
}

/**
 * Runs a shell script as root in a copy of this machine's root that ends with it. The copy has one person, ada, with
 * an empty home; `as_ada COMMAND` runs a command as her, with nothing else in the environment, and `bare_ada COMMAND`
 * also with no other programs than Node.js, git and those of every Unix. The folder `given` is /given there.
 *
 * @param folder an empty folder for what it needs
 * @param beside runs outside, beside the script
 */
export async function inFreshRoot(
  folder: string,
  given: string,
  script: string,
  beside: (running: RunningScript) => Promise<void> = () => Promise.resolve(),
): Promise<Outcome> {
  mkdirSync(folder, { recursive: true });
  const programs = readFileSync(PROGRAMS, 'utf8').replace(/#.*/g, '').split(/\s+/).join(' ');
  const inner = join(folder, 'inner.sh');
  writeFileSync(
    inner,
    `set -eu
useradd --create-home --shell /bin/sh ada
mkdir /bare
for program in ${programs}; do ln -s "$(type -P "$program")" /bare/; done
touch /began
as_ada() {
  (cd /home/ada && exec setpriv --reuid ada --regid ada --clear-groups env -i HOME=/home/ada USER=ada PATH="$PATH" "$@")
}
bare_ada() { as_ada env PATH=/bare "$@"; }
${script}
`,
  );
  const outer = join(folder, 'outer.sh');
  const left = join(folder, 'left');
  writeFileSync(
    outer,
    `set -eu
mount -t tmpfs tmpfs '${folder}/space'
cd '${folder}/space'
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs tmpfs root/tmp
chmod 1777 root/tmp
mkdir root/given
mount --bind '${given}' root/given
cp '${inner}' root/inner.sh
code=0
chroot root bash /inner.sh || code=$?
umount root/given
(find upper root/tmp \\( -type f -o -type l \\) -newer root/began -print) |
  sed -e 's,^upper,,' -e 's,^root,,' | grep -vE '^/(var|etc|began)' >'${left}' || true
exit "$code"
`,
  );
  mkdirSync(join(folder, 'space'));
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'bash', outer], {
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close') as Promise<[number | null]>;
  try {
    await beside({ output: () => output, goOn: () => void child.stdin.write('\n') });
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`Beside the script, which wrote:\n${output}`, { cause: error });
  }
  const [code] = await ended;
  const files = code === null ? [] : readFileSync(left, 'utf8').split('\n').filter(Boolean);
  return { code, output, left: files.sort() };
}
