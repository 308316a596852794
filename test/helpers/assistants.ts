import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { SessionsReport } from '../../src/lib/sessions/view';
import { BIN, cleanEnv, jsonOf, steward } from './cli';
import { hookJson, verbOf, type RecordedEvent } from './hooks';
import type { Random } from './random';

/** The turn of an assistant, again and again. */
const TURN: readonly RecordedEvent[] = ['prompt', 'tool-before', 'tool', 'tool-before', 'tool', 'stop'];

/**
 * Lets so many assistants call their hooks at once, each one after the other, some of them killed at a random
 * moment; then checks that each event that was taken stands in the log once, whole, and in its session.
 */
export async function assistants(
  home: string,
  { sessions, each, kills }: { sessions: number; each: number; kills: number },
  random: Random,
): Promise<void> {
  const taken = new Set<string>();
  const killed = new Set<string>();
  const killEvery = kills === 0 ? Infinity : Math.max(1, Math.floor((sessions * each) / kills));
  let count = 0;
  let isOver = false;
  const call = async (session: string, event: RecordedEvent): Promise<void> => {
    count += 1;
    const isKilled = !isOver && count % killEvery === 0;
    // The reason, or the tool, is what the event is found by.
    const mark = `n${count}`;
    const input = hookJson(event, {
      session_id: session,
      cwd: home,
      ...(event.startsWith('tool') ? { tool_name: mark } : { agent_id: mark }),
    });
    const child = spawn(process.execPath, [BIN, 'hook', verbOf(event)], {
      env: cleanEnv(home),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdin.end(input);
    if (isKilled) setTimeout(() => child.kill('SIGKILL'), random.next() * 120);
    const [code, signal] = (await ended) as [number | null, string | null];
    if (signal === null) {
      expect(code).to.equal(0);
      expect(output).to.equal('');
      taken.add(mark);
    } else killed.add(mark);
  };
  const session = async (id: string): Promise<void> => {
    await call(id, 'session-start');
    for (let index = 1; index < each; index += 1) await call(id, TURN[index % TURN.length] as RecordedEvent);
  };
  const ids = Array.from({ length: sessions }, (_, index) => `assistant-${index}`);
  await Promise.all(ids.map(session));

  const state = join(home, '.steward', 'state');
  const seen = new Map<string, number>();
  for (const line of readFileSync(join(state, 'work-events.jsonl'), 'utf8').trimEnd().split('\n')) {
    const { tool, agent } = JSON.parse(line) as { tool?: string; agent?: string };
    const mark = String(tool ?? agent);
    seen.set(mark, (seen.get(mark) ?? 0) + 1);
  }
  for (const mark of taken) expect(seen.get(mark), mark).to.equal(1);
  for (const [mark, times] of seen) {
    expect(times, mark).to.equal(1);
    expect(taken.has(mark) || killed.has(mark), mark).to.equal(true);
  }
  isOver = true;
  for (const id of ids) await call(id, 'stop');
  const report = jsonOf(await steward(['sessions', '--json'], { home })) as SessionsReport;
  expect(report.sessions.flatMap(({ sessionIds }) => sessionIds)).to.have.members(ids);
  expect(report).to.include({ waiting: sessions, working: 0 });
  JSON.parse(readFileSync(join(state, 'sessions.json'), 'utf8'));
}
