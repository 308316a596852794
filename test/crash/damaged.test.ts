import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseObject } from '../../src/lib/platform/files/json-object';
import { campaign, killsOr } from '../helpers/random';
import { BIN, cleanEnv, steward, type StewardResult } from '../helpers/cli';
import { DAMAGES } from '../helpers/damage';
import { bareEnvironment } from '../helpers/git';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { removeFolder, scratch } from '../helpers/scratch';
import { readyWorld } from '../helpers/work';

const ROUNDS = killsOr(5);

/** What reads the area, all at once, and then what writes it, one after the other. */
const READERS: readonly (readonly string[])[] = [
  ['status', '--json'],
  ['doctor', '--json'],
  ['config', 'show', '--json'],
  ['sense', 'today', '--json'],
  ['sense', 'recent', '--json'],
  ['sense', 'status', '--json'],
  ['sessions', '--json'],
  ['statusline'],
  ['standup', '--json'],
  ['week', '--json'],
  ['notify', 'history', '--json'],
  ['notify', 'routes', '--json'],
  ['work', 'status', '--json'],
  ['work', 'board', '--json'],
  ['agents', 'roster', '--json'],
  ['agents', 'knowledge', 'search', 'ann', '--json'],
];
const WRITERS: readonly (readonly string[])[] = [
  ['sense', 'capture', '--json'],
  ['sense', 'rollup', '2026-11-20', '--json'],
  ['notify', 'send', 'Hello', '--no-voice', '--json'],
  ['work', 'sweep', '--json'],
  ['config', 'set', 'sense.idleAfterSec', '200', '--json'],
];
/** What a person wrote, or what cannot be made again: no command may change it because it is damaged. */
const KEPT = /^(?:config\.yaml|settings\.json|projects\.md|sense\/(?:config\.json|classify\.yaml|events\/.*)|goals\/goals\.md|agents\/.*|knowledge\/.*|principal\/.*|work\/(?:config\.yaml|labels\.yml|work_repo\.json))$/; // prettier-ignore
const CODES = [0, 2, 3, 4, 5, 6, 7, 8];

describe('crash: a user area with a damaged file', function () {
  this.timeout(120_000 + ROUNDS * 60_000);
  const box = scratch();
  let github: GitHub;
  before(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }] });
  });
  after(() => github.close());

  const run = (args: readonly string[], home: string, input = ''): Promise<StewardResult> =>
    steward(args, {
      home,
      input,
      env: { GITHUB_API_URL: github.url, GH_TOKEN: github.token, STEWARD_NO_CODE_CACHE: '1' },
    });

  it(`reports no bug, never hangs, and keeps the user's files unchanged (${ROUNDS} rounds)`, async () => {
    const random = campaign('damaged files');
    const whole = box.path('whole');
    await fill(whole, github, run);
    const files = readdirSync(join(whole, '.steward'), {
      recursive: true,
      encoding: 'utf8',
      withFileTypes: true,
    })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(join(whole, '.steward').length + 1))
      .sort();
    expect(files.length).to.be.at.least(25);
    for (let round = 0; round < ROUNDS; round += 1) {
      const file = random.pick(files);
      const damage = random.pick(DAMAGES);
      const home = box.path(`damaged-${round}`);
      cpSync(whole, home, { recursive: true, verbatimSymlinks: true });
      const path = join(home, '.steward', file);
      // A hook of the fill may finish its spool entry after the list was made.
      if (!existsSync(path)) continue;
      damage.apply(path, random);
      const before = textOf(path);
      const what = `round ${round}: ${damage.name} in ${file}`;
      const told = await Promise.all(READERS.map((args) => run(args, home)));
      for (const args of WRITERS) told.push(await run(args, home));
      [...READERS, ...WRITERS].forEach((args, index) => {
        const { code, stderr } = told[index] as StewardResult;
        expect(code, `${what}: steward ${args.join(' ')}\n${stderr}`).to.be.oneOf(CODES);
      });
      const hook = await run(['hook', 'stop'], home, hookJson('stop', { cwd: home }));
      expect(hook, what).to.include({ code: 0, stdout: '', stderr: '' });
      const isEdited = file === 'config.yaml' && told.at(-1)?.code === 0;
      // Verifying the repository again writes its result, unless the file is invalid.
      const isVerified = file === 'work/work_repo.json' && [before, textOf(path)].every(isJson);
      if (!isVerified && KEPT.test(file) && before !== undefined && !isEdited)
        expect(textOf(path)?.startsWith(before) ?? false, `${what}: is kept`).to.equal(true);
      chmodTo(path);
      removeFolder(home);
    }
    removeFolder(whole);
  });
});

/** The file's text; undefined where there is none to read. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES') return undefined;
    throw error;
  }
}

function isJson(text: string | undefined): boolean {
  return parseObject(text ?? '') !== undefined;
}

function chmodTo(path: string): void {
  try {
    chmodSync(path, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Gives a home a user area in which every feature has left its files. */
async function fill(
  home: string,
  github: GitHub,
  run: (args: readonly string[], home: string, input?: string) => Promise<StewardResult>,
): Promise<void> {
  const area = join(home, '.steward');
  const write = (name: string, text: string): void => {
    mkdirSync(join(area, name, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(join(area, name), text, { mode: 0o600 });
  };
  const must = async (args: readonly string[], input?: string): Promise<void> => {
    const { code, stderr } = await run(args, home, input);
    expect(code, `steward ${args.join(' ')}\n${stderr}`).to.equal(0);
  };
  const repo = join(home, 'shop');
  mkdirSync(repo, { recursive: true });
  const git = (...args: string[]): void => {
    const { status, stderr } = spawnSync('git', args, {
      cwd: repo,
      env: bareEnvironment(home),
      encoding: 'utf8',
    });
    expect(status, stderr).to.equal(0);
  };
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'ann@example.org');
  git('config', 'user.name', 'Ann');
  git('commit', '-q', '--allow-empty', '-m', 'Begin');
  write('config.yaml', '# mine\ntimezone: UTC\nprincipal:\n  name: Ann\nagents: {}\n');
  await must(['sense', 'init']);
  await must(['config', 'set', 'sense.repos', repo]);
  await must(['config', 'set', 'notifications.push.topic', 'steward-0123456789abcdef']);
  await must(['config', 'set', 'notifications.push.server', 'http://127.0.0.1:9']);
  write('sense/events/2026-11-20.jsonl', `${JSON.stringify({ ts: '2026-11-20T09:00:00.000Z', type: 'app-focus', source: 'appFocus', app: 'Code', detail: { intervalSec: 120 } })}\n`); // prettier-ignore
  write('goals/goals.md', '# Active Goals\n\n- **G1**: Ship it\n');
  write('projects.md', `| Name | Path |\n| --- | --- |\n| **Shop** | \`${repo}\` |\n`);
  write('principal/pronunciations.json', '{"terms":{"ntfy":"notify"}}\n');
  write('knowledge/people/ann.md', '---\nname: Ann\ntags: [team]\n---\nWorks on the shop.\n');
  await must(['agents', 'roster', 'add', 'ada', '--role', 'security specialist']);
  for (const event of ['session-start', 'prompt', 'tool', 'stop'] as const)
    await must(['hook', event], hookJson(event, { cwd: repo }));
  await must(['sense', 'capture']);
  await must(['sense', 'rollup', '2026-11-20']);
  await must(['notify', 'mute', '1h']);
  await must(['notify', 'send', 'Built', '--event', 'backgroundAgent']);
  const world = await readyWorld(github);
  cpSync(world.at.area.work.root, join(area, 'work'), { recursive: true });
  world.remove();
  await must(['config', 'set', 'WORK.REPO', 'ann/work']);
  await must(['work', 'remind', 'call Ann tomorrow at 10']);
  await must(['hook', 'session-end'], hookJson('session-end', { cwd: repo }));
  await must(['work', 'board']);
  // Whatever goes on in the background ends before the home is copied.
  spawnSync(process.execPath, [BIN, 'notify', 'deliver'], { env: cleanEnv(home) });
}
