import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN } from '../../test/helpers/cli';
import type { Figure } from '../figure';
import { homeWithIssues } from './work';

const ISSUES = 3000;
const SESSIONS = 1000;

/** The scheduler's hourly run as a whole process, without git. */
export const SWEEP: Figure = {
  name: 'steward work sweep, 1,000 sessions',
  limit: { ms: 1000 },
  prepare() {
    const home = homeWithIssues(ISSUES);
    const work = join(home.path, '.steward', 'work');
    // No issue is in progress, so the sweep has no stale one to flag.
    const cache = join(work, 'cache.json');
    writeFileSync(cache, readFileSync(cache, 'utf8').replaceAll('Status:in-progress', 'Status:ready'));
    for (let n = 1; n <= SESSIONS; n += 1) {
      const folder = join(home.path, '.steward', 'sessions', `part-${n}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'ISA.md'), artifact(n));
    }
    const portFile = join(home.path, 'port');
    const service = spawn(process.execPath, ['-e', UNCHANGED, portFile], { stdio: 'ignore' });
    const port = waitFor(portFile);
    const env = { ...home.env, GITHUB_API_URL: `http://127.0.0.1:${port}`, PATH: home.path };
    return {
      program: { args: [BIN, 'work', 'sweep', '--json'], env },
      yardstick: { args: ['-e', '0'], env },
      against: 'node -e 0',
      remove: () => {
        service.kill();
        home.remove();
      },
    };
  },
};

function artifact(n: number): string {
  const head = [`task: Part ${n}`, 'phase: execute', `github_issue: ${n}`, 'github_issue_url: https://x'];
  return `---\n${head.join('\n')}\n---\n${`- [x] One of the claims of part ${n}\n`.repeat(300)}`;
}

function waitFor(path: string): string {
  for (;;) {
    try {
      const text = readFileSync(path, 'utf8');
      if (text.endsWith('\n')) return text.trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}

/** A fake service with an unchanging private repository. */
const UNCHANGED = `
const about = { id: 1, full_name: 'ann/work', private: true, visibility: 'private', html_url: 'https://x' };
const server = require('node:http').createServer((request, response) => {
  const isList = request.url.includes('/issues');
  if (isList && request.headers['if-none-match']) return response.writeHead(304, { etag: '"1"' }).end();
  response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' });
  response.end(JSON.stringify(isList ? [] : about));
});
server.listen(0, '127.0.0.1', () => {
  require('node:fs').writeFileSync(process.argv[1], server.address().port + '\\n');
});
`;
