// node scripts/walks.mjs: lists the files that a message, a hook event, the path of a captured repository and an exchanged
// day pass, in order. A file counts once one of its functions gets an argument that contains the word.
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

import { ROOT } from './bundle.mjs';

const WORD = 'walkabout';
const copy = mkdtempSync(join(tmpdir(), 'steward-walks-'));
const seen = join(copy, 'seen');

function build() {
  for (const name of ['src', 'scripts', 'bin', 'templates', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const src = join(copy, 'src');
  for (const name of readdirSync(src, { recursive: true }).filter((path) => path.endsWith('.ts')))
    traceCalls(join(src, name), name);
  writeFileSync(
    join(src, 'walk.ts'),
    `import { appendFileSync } from 'node:fs';
    const has = (value: unknown, depth: number): boolean =>
      typeof value === 'string' ? value.includes('${WORD}')
      : Buffer.isBuffer(value) ? value.includes('${WORD}')
      : typeof value === 'object' && value !== null && depth > 0 &&
        Object.values(value).some((one) => has(one, depth - 1));
    const passed = new Set<string>();
    export function walk(file: string, values: unknown[]): void {
      if (passed.has(file) || !has(values, 6)) return;
      passed.add(file);
      appendFileSync('${seen}', file + '\\n');
    }`,
  );
  execFileSync(process.execPath, [join(copy, 'scripts', 'build.mjs')], { cwd: copy });
}

/** Lets each function of a file report its arguments first. */
function traceCalls(path, name) {
  const text = readFileSync(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const inserts = [];
  const visit = (node) => {
    const values = ts.isFunctionLike(node) && node.body ? node.parameters.flatMap(namesOf) : [];
    if (values.length > 0) {
      const call = `walk_(${JSON.stringify(name)}, [${values}])`;
      if (ts.isBlock(node.body)) inserts.push([node.body.getStart() + 1, `${call};`]);
      else inserts.push([node.body.getStart(), `(${call}, `], [node.body.end, ')']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  inserts.sort(([a], [b]) => b - a);
  const traced = inserts.reduce((all, [at, more]) => all.slice(0, at) + more + all.slice(at), text);
  const walk = relative(dirname(path), join(copy, 'src', 'walk'));
  writeFileSync(path, `import { walk as walk_ } from './${walk}';\n${traced}`);
}

const namesOf = ({ name }) =>
  ts.isIdentifier(name)
    ? name.text === 'this'
      ? []
      : [name.text]
    : name.elements.flatMap((one) => (ts.isOmittedExpression(one) ? [] : namesOf(one)));

/** Runs steward in a home of this name, and gives the files that the word has passed. */
async function walked(home, args, input = '') {
  const cwd = join(copy, home);
  writeFileSync(seen, '');
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: cwd, TZ: 'UTC', STEWARD_NO_CODE_CACHE: '1' };
  const child = execFile(process.execPath, [join(copy, 'bin', 'run.js'), ...args], { cwd, env });
  child.stdin.end(input);
  child.stderr.pipe(process.stderr);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`steward ${args.join(' ')}: exit code ${code}`);
  return readFileSync(seen, 'utf8').split('\n').filter(Boolean);
}

function show(title, files) {
  const own = files.filter((file) => !file.startsWith('lib/platform/'));
  console.log(`${title}: ${files.length} files, ${own.length} of them outside platform`);
  console.log(files.map((file) => `  ${file}\n`).join(''));
}

const git = (cwd, ...args) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', '-C', cwd, ...args]);

/** Accepts each message as ntfy does. */
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end(JSON.stringify({ id: 'x', event: 'message' })));
});

try {
  build();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await walked('message', [
    'config',
    'set',
    'notifications.push.server',
    `http://127.0.0.1:${server.address().port}`,
  ]);
  await walked('message', ['config', 'set', 'notifications.push.topic', 'steward-test-topic']);
  show(
    'message',
    await walked('message', ['notify', 'send', WORD, '--event', 'backgroundAgent', '--strict']),
  );

  const payload = JSON.stringify({ session_id: WORD, cwd: join(copy, 'hook'), prompt: 'x' });
  show('hook event', await walked('hook', ['hook', 'prompt'], payload));
  show('then in the sessions', await walked('hook', ['sessions', '--json']));

  await walked('capture', ['sense', 'init']);
  const repo = join(copy, 'capture', WORD);
  git(copy, 'init', '-q', repo);
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'x');
  await walked('capture', ['config', 'add', 'sense.repos', repo]);
  show('captured repository', await walked('capture', ['sense', 'capture', '--json']));

  const exchange = join(copy, 'exchange');
  await walked('capture', ['sync', 'setup', exchange, '--create']);
  await walked('other', ['sense', 'init']);
  await walked('other', ['sync', 'setup', exchange]);
  show('exchanged day', await walked('other', ['time', '--json']));
} finally {
  server.close();
  rmSync(copy, { recursive: true, force: true });
}
