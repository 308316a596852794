// node scripts/side-by-side.mjs COMMAND...: runs the commands at the same time, prints what each says in one piece, in
// their order, names those that fail, and then exits with 1.
import { spawn } from 'node:child_process';

const runs = process.argv.slice(2).map((command) => {
  let said = '';
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  const code = new Promise((done, fail) => child.on('error', fail).on('close', done));
  return { command, code, said: () => said };
});
for (const { command, code, said } of runs) {
  const failed = (await code) !== 0;
  process.stdout.write(said());
  if (!failed) continue;
  console.error(`failed: ${command}`);
  process.exitCode = 1;
}
