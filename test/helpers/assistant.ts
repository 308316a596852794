import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { SessionsReport } from '../../src/lib/sessions/rows';
import { BIN, cleanEnv, jsonOf, steward } from './cli';
import { type RecordedEvent, hookJson, verbOf } from './hooks';
import type { Random } from './random';

/** What the program that plays the assistant was called with. */
export interface AssistantCall {
  argv: string[];
  cwd: string;
  /** What it found in its folder. */
  files: string[];
  env: Record<string, string>;
  stdin: string;
}

export interface PlayedAssistant {
  /** The command that plays it so. */
  command: (mode: AssistantMode) => string[];
  /** What it answers in the mode `reply`. */
  answer: (text: string) => void;
  calls: () => AssistantCall[];
  /** A file of its own, such as `started` and `go` of the mode `wait`. */
  file: (name: string) => string;
  /** Makes it the program of that name in a folder that can stand on the PATH; it answers `reply`. */
  install: (name: string, more?: string) => string;
}

export type AssistantMode = 'reply' | 'slow' | 'flood' | 'fail' | 'killed' | 'refuse' | 'wait' | 'deaf';

export const GOOD_REPLY = JSON.stringify({
  narrative: 'Programming with a terminal beside it, then some reading.',
  contentTypes: [
    { label: 'programming', share: 0.75, evidence: 'Ghostty and commit subjects' },
    { label: 'reading', share: 0.25, evidence: 'Firefox' },
  ],
});

/** A program in a process of its own that reads a prompt and answers, well or badly, as the assistant may. */
export function playAssistant(folder: string): PlayedAssistant {
  mkdirSync(folder, { recursive: true });
  const file = (name: string): string => join(folder, name);
  const script = file('assistant.cjs');
  writeFileSync(script, `${SCRIPT}\nplay(${JSON.stringify(folder)}, process.argv[2]);\n`);
  writeFileSync(file('reply'), GOOD_REPLY);
  return {
    command: (mode) => [process.execPath, script, mode],
    answer: (text) => writeFileSync(file('reply'), text),
    calls: () =>
      existsSync(file('calls'))
        ? readFileSync(file('calls'), 'utf8')
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as AssistantCall)
        : [],
    file,
    install(name, more = '') {
      const bin = file('bin');
      mkdirSync(bin, { recursive: true });
      const text = `#!${process.execPath}\n${SCRIPT}\n${more}\nplay(${JSON.stringify(folder)}, 'reply');\n`;
      writeFileSync(join(bin, name), text);
      chmodSync(join(bin, name), 0o755);
      return bin;
    },
  };
}

const SCRIPT = String.raw`
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { join } = require('node:path');
function play(folder, mode) {
  if (mode === 'deaf') {
    process.stdout.write(fs.readFileSync(join(folder, 'reply')));
    return;
  }
  const stdin = fs.readFileSync(0, 'utf8');
  const call = { argv: process.argv.slice(2), cwd: process.cwd(), files: fs.readdirSync('.'), env: process.env, stdin };
  fs.appendFileSync(join(folder, 'calls'), JSON.stringify(call) + '\n');
  if (mode === 'reply') process.stdout.write(fs.readFileSync(join(folder, 'reply')));
  if (mode === 'flood') {
    const pour = () => process.stdout.write('x'.repeat(65_536), pour);
    pour();
  }
  if (mode === 'fail') {
    process.stdout.write(fs.readFileSync(join(folder, 'reply')));
    process.stderr.write('first line\n\u001b[31mno such model\u001b[0m\n');
    process.exitCode = 1;
  }
  if (mode === 'killed') process.kill(process.pid, 'SIGKILL');
  if (mode === 'refuse') {
    const result = 'Not logged in \u00b7 Please run /login';
    process.stdout.write(JSON.stringify({ type: 'result', subtype: 'success', is_error: true, result, modelUsage: {} }));
    process.exitCode = 1;
  }
  if (mode === 'slow') {
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], { stdio: 'inherit' });
    fs.writeFileSync(join(folder, 'pids.new'), JSON.stringify([process.pid, child.pid]));
    fs.renameSync(join(folder, 'pids.new'), join(folder, 'pids'));
    setTimeout(() => {}, 600_000);
  }
  if (mode === 'wait') {
    fs.writeFileSync(join(folder, 'started'), '');
    const timer = setInterval(() => {
      if (!fs.existsSync(join(folder, 'go'))) return;
      clearInterval(timer);
      process.stdout.write(fs.readFileSync(join(folder, 'reply')));
    }, 5);
  }
}`;

/** The turn of an assistant, again and again. */
const TURN: readonly RecordedEvent[] = ['prompt', 'tool-before', 'tool', 'tool-before', 'tool', 'stop'];

/**
 * Lets so many assistants call their hooks or the installed shim at once, each one after the other, some of them killed
 * at a random moment; then checks that each event that was taken stands in the log once, whole, and in its session.
 */
export async function assistants(
  home: string,
  { sessions, each, kills, shim }: { sessions: number; each: number; kills: number; shim?: string },
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
    const [file, ...args] = shim === undefined ? [process.execPath, BIN, 'hook'] : ['/bin/sh', shim];
    const child = spawn(file ?? '', [...args, verbOf(event)], {
      env: cleanEnv(home),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdin.end(input);
    if (isKilled) setTimeout(() => child.kill('SIGKILL'), random.next() * (shim === undefined ? 120 : 30));
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
  // A writer that saw another's line half written begins with a line feed, which leaves an empty line.
  const lines = readFileSync(join(state, 'work-events.jsonl'), 'utf8').split('\n').filter(Boolean);
  for (const line of lines) {
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
