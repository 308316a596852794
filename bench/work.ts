/**
 * Compares the board with 3,000 issues over HTTP with a bare server that sends the same bytes, at 50 requests a second.
 * Run: npm run -s build && npx tsx bench/work.ts [SECONDS]
 */
import autocannon from 'autocannon';
import { spawn } from 'node:child_process';

import { ask, startDaemon } from '../test/helpers/daemon';
import { homeWithIssues } from './figures/work';
import { median } from './measure';

const ISSUES = 3000;
const seconds = Number(process.argv[2] ?? 10);

async function main(): Promise<void> {
  const home = homeWithIssues(ISSUES);
  const daemon = await startDaemon({ home: home.path, env: home.env });
  try {
    const { text } = await ask(`${daemon.url}/api/work`);
    const bare = spawn(process.execPath, ['-e', BARE], { stdio: ['pipe', 'pipe', 'inherit'] });
    bare.stdin.end(text);
    const port = await new Promise<string>((done) =>
      bare.stdout.once('data', (chunk) => done(String(chunk))),
    );
    const slowest = async (url: string): Promise<number> =>
      (await autocannon({ url, connections: 5, overallRate: 50, duration: seconds })).latency.p99;
    const [own, base]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      const both = [slowest(`${daemon.url}/api/work`), slowest(`http://127.0.0.1:${port.trim()}/`)];
      const [mine = 0, theirs = 0] = await Promise.all(both);
      own.push(mine);
      base.push(theirs);
    }
    bare.kill();
    report(`/api/work at 50/s: p99 ${median(own)} ms, bare ${median(base)} ms; times`, median(own) / Math.max(1, median(base)), 3); // prettier-ignore
  } finally {
    await daemon.stop();
    home.remove();
  }
}

function report(name: string, value: number, limit: number): void {
  const within = value <= limit;
  if (!within) process.exitCode = 1;
  console.log(`${within ? 'ok  ' : 'OVER'}  ${name} ${value.toFixed(2)}  limit ${limit}`);
}

const BARE = `
const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
  const body = Buffer.concat(chunks);
  const server = require('node:http').createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
});
`;

void main();
