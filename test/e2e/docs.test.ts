import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, removeFolder, steward } from '../helpers/cli';
import { startDaemon, type RunningDaemon } from '../helpers/daemon';
import { eventsOf } from '../helpers/dashboard';
import { blocksOf, commandLines, docPages, stewardCalls, type Block } from '../helpers/doc-pages';
import { startFake, type Fake } from '../helpers/fake-managed/server';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';

/** Lines that go on until they are told to stop, or open a window: test/lib/docs.test.ts looks at their words. */
const ENDLESS =
  /^steward (up|open|mcp|daemon serve|daemon logs --follow|agents watch)\b(?!.*(--once|--print))/;

/**
 * Every line that a page tells its reader to type is typed, in the order of the page, in a home and with servers of
 * its own. A comment before a block says what differs: `<!-- test: parse -->` it is not run (it needs what no test
 * has), `compare` what it prints is what the page shows, `exit N` it ends with that code.
 */
describe('the command lines of the documentation (built)', function () {
  this.timeout(300_000);
  let home: ReturnType<typeof annsHome>;
  let github: GitHub;
  let managed: Fake;
  let daemon: RunningDaemon | undefined;
  let env: NodeJS.ProcessEnv;

  before(function () {
    requirePrograms(this as never, { bash: 'bash', curl: 'curl', openssl: 'openssl' });
  });

  beforeEach(async () => {
    home = annsHome();
    github = await startGitHub({ repos: [] });
    managed = await startFake();
    // Nothing but this machine can be reached by what the pages set.
    env = cleanEnv(home.path, {
      PATH: `${join(home.path, 'bin')}:${process.env['PATH']}`,
      GITHUB_API_URL: github.url,
      GH_TOKEN: github.token,
      STEWARD_MANAGED_URL: managed.url,
      ANTHROPIC_API_KEY: 'key',
      CHAT_WEBHOOK: 'http://127.0.0.1:9/hook',
      SPEECH_KEY: 'key',
      STEWARD_TIMEZONE: 'UTC',
    });
    const write = (name: string, text: string): void => {
      const path = join(home.path, name);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, text, { mode: 0o755 });
    };
    write('bin/steward', `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
    // Each machine has another scheduler, and none of this one gets a job.
    write(
      'bin/systemctl',
      '#!/bin/sh\ncase "$2" in\n  is-system-running) echo running ;;\n  is-active) echo inactive && exit 3 ;;\n  is-enabled) exit 1 ;;\n  show) echo LoadState=loaded ;;\nesac\n',
    );
    write('bin/crontab', '#!/bin/sh\necho "no crontab for ann" >&2\nexit 1\n');
    write('hook.json', hookJson('prompt', { cwd: home.path, prompt: 'research the pricing' }));
    write(
      'planned.json',
      '[{"subagent_type": "general-purpose", "model": "fast", "prompt": "You are a careful reviewer."}]',
    );
    write('reviewer.md', 'You review.\n');
    write('src/site/.git/HEAD', 'ref: refs/heads/main\n');
    const day = '2026-11-20';
    const log = eventsOf(day, 'UTC', 29).map((event) => `${JSON.stringify(event)}\n`);
    write(`.steward/sense/events/${day}.jsonl`, log.join(''));
    // What another system has left: one part of each kind that the page shows, and one that is unfit.
    const artifact = '---\nslug: pricing\ntask: Research the pricing\nphase: execute\n---\n';
    const [old] = eventsOf('2025-11-20', 'UTC', 1);
    write('.old/sense/events/2025-11-20.jsonl', `${JSON.stringify(old)}\n`);
    write('.old/MEMORY/pricing/ISA.md', artifact);
    write('.old/MEMORY/Bad Name/ISA.md', artifact);
    write('.old/goals/goals.md', '# Active Goals\n\n- **G1**: Ship it\n');
    // A session with an artifact, as an assistant leaves it.
    const start = JSON.parse(hookJson('session-start')) as { session_id: string };
    await steward(['hook', 'session-start', '--no-tab'], { home: home.path, input: JSON.stringify(start) });
    write(
      '.steward/sessions/fix-login/ISA.md',
      `---\nslug: fix-login\nsession: ${start.session_id}\ntask: Fix the login\nphase: execute\n---\n`,
    );
    await steward(['hook', 'stop', '--no-tab'], { home: home.path, input: hookJson('stop') });
    for (const [key, value] of [
      ['notifications.push.server', 'http://127.0.0.1:9'],
      ['notify.voice.provider.url', 'http://127.0.0.1:9'],
      ['notify.voice.engine', 'none'],
    ] as const)
      await steward(['config', 'set', key, value], { home: home.path });
  });

  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    await github.close();
    await managed.stop();
    home.remove();
  });

  // What a person types where something is wrong: troubleshooting.test.ts has that page.
  const pages = docPages().filter(({ path }) => path !== 'docs/troubleshooting.md');
  for (const page of pages) {
    const blocks = blocksOf(page).filter((block) => isRun(block));
    if (blocks.length === 0) continue;
    it(page.path, async () => {
      if (/127\.0\.0\.1:31337\/\S/.test(blocks.flatMap(({ lines }) => lines).join('\n'))) {
        daemon = await startDaemon({ home: home.path, env: { STEWARD_TIMEZONE: 'UTC' } });
      }
      for (const block of blocks) await runBlock(page.path, block);
    });
  }

  async function runBlock(page: string, block: Block): Promise<void> {
    const wanted = Number(block.marks.find((mark) => mark.startsWith('exit '))?.slice(5) ?? 0);
    for (const { line, output } of commandLines(block)) {
      if (ENDLESS.test(line) || !isOurs(line)) continue;
      const where = `${page}:${block.line}: ${line}`;
      const { code, stdout, stderr } = await shell(line);
      expect(code, `${where}\n${stdout}${stderr}`).to.equal(wanted);
      if (block.marks.includes('compare')) {
        expectShown(where, stdout.replaceAll(home.path, '/home/ann'), output ?? []);
      }
    }
  }

  function shell(line: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const own = daemon === undefined ? line : line.replaceAll('http://127.0.0.1:31337', daemon.url);
    return new Promise((resolve, reject) => {
      const child = spawn('bash', ['-c', own], { cwd: home.path, env, timeout: 120_000 });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.stdin.end();
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    });
  }
});

/** A home folder whose path is as long as /home/ann, so that lines break where they do on the page. */
function annsHome(): { path: string; remove: () => void } {
  for (;;) {
    const path = `/tmp/${randomBytes(2).toString('hex')}`;
    if (existsSync(path)) continue;
    mkdirSync(path, { mode: 0o700 });
    return { path, remove: () => removeFolder(path) };
  }
}

function isRun(block: Block): boolean {
  return !block.marks.includes('parse') && commandLines(block).some(({ line }) => isOurs(line));
}

function isOurs(line: string): boolean {
  return stewardCalls(line).length > 0 || line.startsWith('curl ');
}

/** A line `…` stands for whatever comes there until the next one; ids are new at every run. */
function expectShown(where: string, stdout: string, output: readonly string[]): void {
  const plain = (text: string): string => text.replace(/"id":"[^"]+"/g, '"id":"…"').trimEnd();
  const shown = output.map(plain).join('\n').trim();
  const pattern = shown.split(/^…$/m).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const real = stdout.split('\n').map(plain).join('\n').trim();
  if (!new RegExp(`^${pattern.join('[^]*')}$`).test(real)) expect(real, where).to.equal(shown);
}
