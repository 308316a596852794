import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';

import { readText, sweepTemps } from '../../src/lib/platform/files/atomic-file';
import { systemClock } from '../../src/lib/platform/time/clock';
import { completeAppend } from '../../src/lib/platform/files/jsonl';
import { withLock } from '../../src/lib/platform/files/lock';
import { linesOf, numbered, type Progress } from './numbered';
import type { Random } from './random';

interface Talker {
  child: ChildProcess;
  lines: Interface;
}

function startChild(bundle: string, args: readonly string[]): Talker {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.stdout === null) throw new Error('a pipe was asked for');
  return { child, lines: createInterface(child.stdout) };
}

/** Lets it say a random number of lines, then kills it within some milliseconds, and waits for its end. */
async function killSoon({ child, lines }: Talker, mostLines: number, random: Random): Promise<void> {
  const ended = once(child, 'exit');
  const after = 1 + random.below(mostLines);
  let heard = 0;
  await new Promise<void>((resolve, reject) => {
    void ended.then(() => reject(new Error('the child ended by itself')));
    lines.on('line', () => {
      heard += 1;
      if (heard === after) resolve();
    });
  });
  // Random in time too: otherwise it always dies just behind a line.
  await new Promise((resolve) => setTimeout(resolve, random.next() * 8));
  child.kill('SIGKILL');
  await ended;
}

/** Kills a process that replaces a file, again and again: what is read is always one whole content. */
export async function killReplacing(
  bundle: string,
  folder: string,
  kills: number,
  random: Random,
): Promise<void> {
  for (let kill = 0; kill < kills; kill += 1) {
    const talker = startChild(bundle, ['replace', folder]);
    let said = -1;
    talker.lines.on('line', (line) => (said = Number(line)));
    await killSoon(talker, 6, random);
    const text = readFileSync(`${folder}/file`, 'utf8');
    const number = Number(text.split(':')[0]);
    expect(text === numbered(number), `content ${number} is whole`).to.equal(true);
    expect(number).to.be.at.least(said);
  }
  sweepTemps(folder, -1, Date.now());
  expect(readdirSync(folder)).to.deep.equal(['file']);
}

/** Kills a process that appends planned lines: after its recovery each line stands once, and none is torn. */
export async function killAppending(
  bundle: string,
  folder: string,
  kills: number,
  random: Random,
): Promise<void> {
  const log = `${folder}/log`;
  for (let kill = 0; kill < kills; kill += 1) {
    await killSoon(startChild(bundle, ['append', folder]), 4, random);
    const text = readText(`${folder}/progress`);
    const progress = JSON.parse(text ?? '{"next":0,"plan":null}') as Progress;
    if (progress.plan !== null) completeAppend(log, progress.plan);
    const stands = readFileSync(log, 'utf8');
    const expected = linesOf(0, progress.next).map((line) => `${line}\n`);
    expect(stands === expected.join(''), `${progress.next} lines, each once`).to.equal(true);
    // Begins anew, so that reading all of it stays quick.
    if (stands.length > 20_000_000) {
      writeFileSync(log, '');
      writeFileSync(`${folder}/progress`, '{"next":0,"plan":null}');
    }
  }
}

/** Kills holders and waiters of one lock: two are never inside, and the lock is never stuck. */
export async function killLocking(
  bundle: string,
  folder: string,
  kills: number,
  random: Random,
): Promise<void> {
  mkdirSync(`${folder}/locks`);
  writeFileSync(`${folder}/number`, '0');
  const killed = new Set<number>();
  const met: number[] = [];
  const fresh = (): Talker => {
    const talker = startChild(bundle, [folder, '1000000']);
    talker.lines.on('line', (line) => {
      if (line.startsWith('met ')) met.push(Number(line.slice(4)));
    });
    return talker;
  };
  const talkers = [fresh(), fresh(), fresh()];
  for (let kill = 0; kill < kills; kill += 1) {
    const at = kill % talkers.length;
    const talker = talkers[at] ?? fresh();
    killed.add(talker.child.pid ?? 0);
    await killSoon(talker, 8, random);
    talkers[at] = fresh();
  }
  for (const { child } of talkers) {
    killed.add(child.pid ?? 0);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  const options = { clock: systemClock(), machineId: '0123456789ab', waitMs: 10_000 };
  expect(await withLock(`${folder}/locks/one`, options, () => Promise.resolve('free'))).to.equal('free');
  sweepTemps(`${folder}/locks`, -1, Date.now());
  // At most the claims of those who were killed between their takeover and its end.
  expect(readdirSync(`${folder}/locks`).filter((name) => !name.includes('.after-'))).to.deep.equal([]);
  // `killed` is filled before the kill, so whoever was met and is not in it was alive: two were inside.
  expect(met.filter((pid) => !killed.has(pid))).to.deep.equal([]);
}
