/**
 * Compares the daemon with a bare node:http server that answers JSON of the same size: requests per second, p99 latency
 * at a steady 200 a second, memory, and start-up time.
 * Run: npm run -s build && npx tsx bench/daemon.ts [SECONDS] [ROUNDS]   (default: 20 and 5)
 */
import autocannon from 'autocannon';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome, steward } from '../test/helpers/cli';
import { ask, startDaemon, type RunningDaemon } from '../test/helpers/daemon';
import { median } from './measure';

const EVENTS = 10_000;
const CONNECTIONS = 20;

const seconds = Number(process.argv[2] ?? 20);
const rounds = Number(process.argv[3] ?? 5);
let over = 0;

async function main(): Promise<void> {
  const home = emptyHome();
  let daemon: RunningDaemon | undefined;
  try {
    await prepare(home.path);
    const ready: number[] = [];
    for (let i = 0; i < 10; i += 1) {
      const started = performance.now();
      daemon = await startDaemon({ home: home.path });
      ready.push(performance.now() - started);
      if (i < 9) await daemon.stop();
    }
    report('ready after the start, ms', median(ready), 250);
    if (daemon === undefined) return;
    report('memory, idle, MiB', memory(daemon.pid), 75);
    await rates(daemon, '/healthz', 0.7);
    await rates(daemon, '/api/sense/today', 0.5);
    await latency(daemon, '/api/sense/today', 3);
    await autocannon({ url: `${daemon.url}/api/sense/today`, connections: CONNECTIONS, amount: 100_000 });
    report('memory after 100,000 more requests, MiB', memory(daemon.pid), 110);
  } finally {
    await daemon?.stop();
    home.remove();
  }
  if (over > 0) process.exitCode = 1;
}

/** Writes a day of 10,000 events. */
async function prepare(home: string): Promise<void> {
  await steward(['sense', 'init'], { home });
  const day = new Date().toISOString().slice(0, 10);
  const start = Date.parse(`${day}T00:00:00Z`);
  const lines = Array.from({ length: EVENTS }, (_, i) =>
    JSON.stringify({
      ts: new Date(start + i * 8_000).toISOString(),
      type: 'app-focus',
      source: 'appFocus',
      app: `App ${i % 80}`,
      detail: { intervalSec: 8, bundleId: `com.example.app${i % 80}`, via: 'x11', machine: 'bench' },
    }),
  );
  const events = join(home, '.steward', 'sense', 'events');
  mkdirSync(events, { recursive: true });
  writeFileSync(join(events, `${day}.jsonl`), `${lines.join('\n')}\n`);
}

async function rates(daemon: RunningDaemon, path: string, least: number): Promise<void> {
  const bare = await bareServer(daemon, path);
  try {
    const own: number[] = [];
    const base: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      own.push(await perSecond(`${daemon.url}${path}`));
      base.push(await perSecond(bare.url));
    }
    const ratio = median(own) / median(base);
    console.log(`${path}: ${Math.round(median(own))} requests/s, bare ${Math.round(median(base))}`);
    report('  ratio to the bare server, at least', ratio, least, true);
  } finally {
    bare.child.kill();
  }
}

async function latency(daemon: RunningDaemon, path: string, most: number): Promise<void> {
  const bare = await bareServer(daemon, path);
  try {
    const own: number[] = [];
    const base: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // Run both at once, so that a slow moment affects both.
      const [mine, theirs] = await Promise.all([slowest(`${daemon.url}${path}`), slowest(bare.url)]);
      own.push(mine);
      base.push(theirs);
    }
    console.log(`${path} at 200/s: p99 ${median(own)} ms, bare ${median(base)} ms`);
    report('  ratio to the bare server, at most', median(own) / Math.max(1, median(base)), most);
  } finally {
    bare.child.kill();
  }
}

async function perSecond(url: string): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

async function slowest(url: string): Promise<number> {
  const result = await autocannon({ url, connections: 10, overallRate: 200, duration: seconds });
  return result.latency.p99;
}

async function bareServer(
  daemon: RunningDaemon,
  path: string,
): Promise<{ url: string; child: ChildProcess }> {
  const { text } = await ask(`${daemon.url}${path}`);
  const child = spawn(process.execPath, ['-e', BARE, text], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk) => resolve(String(chunk))),
  );
  return { url: `http://127.0.0.1:${port.trim()}/`, child };
}

const BARE = `
const body = process.argv[1];
const server = require('node:http').createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/** Returns the resident memory in MiB. */
function memory(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function report(name: string, value: number, limit: number, isLeast = false): void {
  const within = isLeast ? value >= limit : value <= limit;
  if (!within) over += 1;
  console.log(
    `${within ? 'ok  ' : 'OVER'}  ${name.padEnd(44)} ${value.toFixed(2).padStart(8)}  limit ${limit}`,
  );
}

void main();
