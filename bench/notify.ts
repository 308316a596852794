/**
 * Compares `POST /notify` at a steady 500 a second with a bare node:http server that answers 202: p99 latency, and whether
 * each notification is in the outbox. Runs once with an engine that speaks all the time, and once with one that hangs, so
 * that each text moves to the desktop, fails there, and waits.
 * Run: npm run -s build && npx tsx bench/notify.ts [SECONDS]   (default: 20)
 */
import autocannon from 'autocannon';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome } from '../test/helpers/cli';
import { ask, startDaemon } from '../test/helpers/daemon';

const RATE = 500;
const seconds = Number(process.argv[2] ?? 20);
const LASTS = `exec sleep ${seconds + 5}`;
const BODY = JSON.stringify({ message: 'The build is done.', voice_enabled: true, title: 'Build' });
const BARE = `require('http').createServer((q, s) => {
  const parts = [];
  q.on('data', (part) => parts.push(part));
  q.on('end', () => { JSON.parse(Buffer.concat(parts)); s.writeHead(202, { 'content-type': 'application/json' }); s.end('{"status":"accepted"}\\n'); });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

/** Scripts for the engine. In both runs the players are slow and banners fail. */
const VOICES = {
  // Writes its file at once.
  'an engine that speaks': 'for last; do :; done; echo RIFF >"$last"',
  'an engine that hangs': LASTS,
};

async function main(): Promise<void> {
  for (const [name, flite] of Object.entries(VOICES)) {
    console.log(name);
    await measure({ flite, aplay: LASTS, 'pw-play': LASTS, paplay: LASTS, 'notify-send': 'exit 1' });
  }
}

async function measure(programs: Readonly<Record<string, string>>): Promise<void> {
  const home = emptyHome();
  const bin = join(home.path, 'bin');
  mkdirSync(bin);
  for (const [name, does] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${does}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  mkdirSync(join(home.path, '.steward'), { mode: 0o700 });
  writeFileSync(join(home.path, '.steward', 'config.yaml'), 'notify:\n  voice:\n    engine: flite\n');
  const daemon = await startDaemon({ home: home.path, env: { PATH: `${bin}:${process.env['PATH']}` } });
  const bare = spawn(process.execPath, ['-e', BARE], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const port = await new Promise<string>((resolve) =>
      bare.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim())),
    );
    await ask(`${daemon.url}/notify`, { method: 'POST', body: BODY });
    const [own, base] = await Promise.all([load(`${daemon.url}/notify`), load(`http://127.0.0.1:${port}/`)]);
    console.log(
      `      answered ${own.requests.total} (bare ${base.requests.total}), other than 202: ${own.non2xx}`,
    );
    const { outbox } = JSON.parse((await ask(`${daemon.url}/api/status`)).text) as {
      outbox: { waiting: number; failed: number };
    };
    console.log(`      in the outbox: ${outbox.waiting}, given up: ${outbox.failed}`);
    console.log(
      `      p50 ${own.latency.p50} ms, bare ${base.latency.p50} ms; longest ${own.latency.max} ms, bare ${base.latency.max} ms`,
    );
    const ratio = own.latency.p99 / Math.max(1, base.latency.p99);
    const isOver = ratio > 3 || own.non2xx > 0 || own.errors > 0 || outbox.waiting < own.requests.total;
    console.log(
      `${isOver ? 'OVER' : 'ok  '}  p99 ${own.latency.p99} ms, bare ${base.latency.p99} ms: ${ratio.toFixed(2)}×, limit 3×`,
    );
    if (isOver) process.exitCode = 1;
  } finally {
    await daemon.stop('SIGKILL');
    bare.kill();
    home.remove();
  }
}

function load(url: string): Promise<autocannon.Result> {
  return autocannon({
    url,
    method: 'POST',
    body: BODY,
    connections: 10,
    overallRate: RATE,
    duration: seconds,
  });
}

void main();
