import { join } from 'node:path';

/** Records each pattern that is made, drives what makes them, and prints them as JSON. */
const made = new Map<string, { source: string; flags: string; at: Set<string> }>();
const root = join(__dirname, '..', '..', '..');

function record(pattern: RegExp): RegExp {
  const { source, flags } = pattern;
  const key = `/${source}/${flags}`;
  const entry = made.get(key) ?? { source, flags, at: new Set() };
  made.set(key, entry);
  const stack = new Error().stack?.split('\n') ?? [];
  for (const line of stack) {
    const found = /\(?([^\s()]+):(\d+):\d+\)?$/.exec(line);
    const path = found?.[1]?.replace('file://', '').replaceAll('\\', '/') ?? '';
    const at = path.indexOf('/src/lib/');
    if (at !== -1 && path.startsWith(root.replaceAll('\\', '/')))
      entry.at.add(`${path.slice(at + 1)}:${found?.[2]}`);
  }
  return pattern;
}

async function main(): Promise<void> {
  Error.stackTraceLimit = 8;
  globalThis.RegExp = new Proxy(RegExp, {
    construct: (target, args: [string, string]) => record(new target(...args)),
    apply: (target, _, args: [string, string]) => record(new target(...args)),
  });
  await route();
  await matchAndRead();
  const list = [...made.values()].map(({ at, ...pattern }) => ({ ...pattern, at: [...at] }));
  process.stdout.write(JSON.stringify(list));
}

async function route(): Promise<void> {
  const { RULES } = await import('../../../src/lib/agents/routing');
  const { readRequest } = await import('../../../src/lib/agents/text');
  const { corpus, NAMED, TYPES } = await import('../agents');
  for (const name of ['requests', 'training', 'training-2', 'training-3', 'training-4']) {
    for (const { request, effort } of corpus(name)) {
      const asked = {
        request: readRequest(request),
        whole: request,
        effort: effort ?? null,
        count: null,
        named: NAMED,
        types: TYPES,
      };
      for (const rule of RULES) {
        rule.find(asked);
        rule.unsuitable?.(asked);
      }
    }
  }
}

async function matchAndRead(): Promise<void> {
  const { findHomographs } = await import('../../../src/lib/notify/speech/homographs');
  const { matchPrompt } = await import('../../../src/lib/work/capture/prompt');
  await import('../../../src/lib/notify/announce');
  await import('../../../src/lib/usage/price-update');
  await import('../../../src/lib/work/due');
  const { unusableTime } = await import('../../../src/lib/work/due-words');
  const { recurringWords } = await import('../../../src/lib/work/due-words');
  const { macosIdle } = await import('../../../src/lib/sense/idle');
  const { cronBlocks } = await import('../../../src/lib/schedule/cron');
  const { findTerms, marked } = await import('../../../src/lib/assistant/find-words');
  const terms = findTerms(['"retry the payment"', 'café']);
  marked(terms, 'retry the payment at the café', (text) => text);
  findHomographs('We go live at nine.');
  matchPrompt('remind me to call Ann');
  recurringWords('every monday');
  unusableTime('call Ann on 31 November');
  const stdout = '"IOConsoleUsers" = ({"kCGSSessionUserIDKey"=501,"kCGSSessionOnConsoleKey"=Yes})';
  const result = { code: 0, signal: null, stdout, stderr: '', truncated: false, timedOut: false };
  await macosIdle.read({ platform: 'darwin', env: {}, run: () => Promise.resolve(result) });
  cronBlocks('', 'steward');
}

void main();
