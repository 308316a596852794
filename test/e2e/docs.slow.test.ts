import { spawn } from 'node:child_process';
import { expect } from 'chai';

import { startDaemon, type RunningDaemon } from '../helpers/daemon';
import { annsHome, docEnv, furnish } from '../helpers/doc-home';
import { blocksOf, commandLines, docPages, stewardCalls, type Block } from '../helpers/doc-pages';
import { startFake, type Fake } from '../helpers/fake-managed/server';
import { startGitHub, type GitHub } from '../helpers/github';
import { requirePrograms } from '../helpers/real-part';

/** Lines that go on until they are told to stop, or open a window: test/lib/docs.test.ts looks at their words. */
const ENDLESS =
  /^steward (up|open|mcp|daemon serve|daemon logs --follow|sessions --watch|agents watch)\b(?!.*(--once|--print))/;

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
    env = docEnv(home.path, { github, managed });
    await furnish(home.path);
  });

  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    await github.close();
    await managed.stop();
    home.remove();
  });

  // What a person types where something is wrong: troubleshooting.test.ts has that part of a page.
  const pages = docPages().map(({ path, text }) => ({
    path,
    text: text.replace(/\n## Troubleshooting\n[^]*/, ''),
  }));
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
