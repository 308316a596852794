/**
 * Measures the daemon's memory while streams of changes come and go: it has to stay flat, and below the limit.
 * Run: npm run -s build && npx tsx bench/streams.ts [STREAMS]   (default: 14,000)
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';

import { emptyHome, steward } from '../test/helpers/cli';
import { startDaemon } from '../test/helpers/daemon';

const MOST_MIB = 120;
/** What the second half may add to the first. */
const MOST_GROWTH_MIB = 8;
const AT_ONCE = 10;
const REPORTS = 7;

const streams = Number(process.argv[2] ?? 14_000);

async function main(): Promise<void> {
  const home = emptyHome();
  await steward(['sense', 'init'], { home: home.path });
  const daemon = await startDaemon({ home: home.path });
  try {
    const memory: number[] = [];
    for (let report = 1; report <= REPORTS; report += 1) {
      const work = async (): Promise<void> => {
        for (let i = 0; i < streams / REPORTS / AT_ONCE; i += 1)
          await openAndClose(`${daemon.url}/api/stream`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      memory.push(memoryOf(daemon.pid));
      console.log(`${Math.round((streams * report) / REPORTS)} streams: ${memory.at(-1)?.toFixed(1)} MiB`);
    }
    const most = Math.max(...memory);
    const growth = (memory.at(-1) ?? NaN) - (memory[Math.floor(REPORTS / 2)] ?? NaN);
    const isMet = most <= MOST_MIB && growth <= MOST_GROWTH_MIB;
    console.log(
      `most ${most.toFixed(1)} MiB, limit ${MOST_MIB}; growth of the second half ${growth.toFixed(1)} MiB`,
    );
    console.log(`limit ${MOST_GROWTH_MIB}: ${isMet ? 'met' : 'EXCEEDED'}`);
    if (!isMet) process.exitCode = 1;
  } finally {
    await daemon.stop();
    home.remove();
  }
}

/** Opens a stream, reads until the first ETag, and goes away, as a page does that is left. */
function openAndClose(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.includes('"etag"')) request.destroy();
      });
      response.on('error', () => undefined);
      response.once('close', resolve);
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET') reject(error);
    });
  });
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

void main();
