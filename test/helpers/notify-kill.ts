import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { userArea } from '../../src/lib/config/user-area';
import { readEntries, type HistoryEntry } from '../../src/lib/notify/history';
import { outboxStatus } from '../../src/lib/notify/outbox';
import { systemClock } from '../../src/lib/platform/time/clock';
import { notifyServer } from './notify-server';
import type { Random } from './random';

/** The history rotates: it is read after so many kills, while it holds what was sent since. */
const READ_EVERY = 100;

/**
 * Kills a process that sends and delivers, again and again at random points. What was accepted has arrived; it
 * has arrived once, or, where a kill fell between the sending and the record of its success, twice, and that is
 * said; what may not have arrived is said, too.
 */
export async function killNotifying(
  bundle: string,
  folder: string,
  kills: number,
  random: Random,
): Promise<{ sent: number; twice: number; unknown: number }> {
  const arrived = new Map<string, number>();
  const server = await notifyServer((got) => {
    const id = String(got.body['sequence_id']);
    arrived.set(id, (arrived.get(id) ?? 0) + 1);
    return { status: 200, body: { id } };
  });
  const accepted: string[] = [];
  const area = userArea({ platform: 'linux', env: { STEWARD_HOME: folder }, home: folder });
  const at = { clock: systemClock(), outbox: area.outbox, history: area.notifyLog };
  const entries = new Map<string, HistoryEntry>();
  const keepEntries = (): void => {
    for (const entry of readEntries(at, 100_000)) entries.set(entry.id, entry);
  };
  const start = (...more: string[]) => {
    const child = spawn(process.execPath, [bundle, folder, server.url, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface(child.stdout).on('line', (line) => accepted.push(line));
    return child;
  };
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const child = start();
      const ended = once(child, 'exit');
      const before = accepted.length;
      const most = 1 + random.below(6);
      while (accepted.length < before + most && child.exitCode === null) await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, random.next() * 12));
      child.kill('SIGKILL');
      expect((await ended)[0], 'it did not end by itself').to.equal(null);
      if (kill % READ_EVERY === 0) keepEntries();
    }
    const last = start('drain');
    expect((await once(last, 'exit'))[0]).to.equal(0);
  } finally {
    await server.close();
  }
  expect(outboxStatus({ outbox: area.outbox }).waiting, 'nothing is left').to.equal(0);
  keepEntries();
  let twice = 0;
  let unknown = 0;
  for (const id of accepted) {
    const push = entries.get(id)?.channels.find(({ channel }) => channel === 'push');
    const count = arrived.get(id) ?? 0;
    expect(push?.result, id).to.be.oneOf(['delivered', 'unknown']);
    expect(count, `${id} arrived`).to.be.within(push?.result === 'unknown' ? 0 : 1, 2);
    if (count === 2) expect(push?.maybeTwice, `${id} is said to have come twice`).to.equal(true);
    if (count === 2) twice += 1;
    if (push?.result === 'unknown') unknown += 1;
  }
  return { sent: accepted.length, twice, unknown };
}
