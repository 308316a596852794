import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Outcome {
  code: number | null;
  output: string;
  /** The files and links that the script left, without what the package databases and logs keep. */
  left: string[];
}

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
 * an empty home; `as_ada COMMAND` runs a command as her, with nothing else in the environment. The folder
 * `given` is /given there.
 *
 * @param folder an empty folder for what it needs
 */
export function inFreshRoot(folder: string, given: string, script: string): Outcome {
  mkdirSync(folder, { recursive: true });
  const inner = join(folder, 'inner.sh');
  writeFileSync(
    inner,
    `set -eu
useradd --create-home --shell /bin/sh ada
touch /began
as_ada() {
  (cd /home/ada && setpriv --reuid ada --regid ada --clear-groups env -i HOME=/home/ada USER=ada PATH="$PATH" "$@")
}
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
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'bash', outer],
    {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
    },
  );
  const files = status === null ? [] : readFileSync(left, 'utf8').split('\n').filter(Boolean);
  return { code: status, output: `${stdout}${stderr}`, left: files.sort() };
}
