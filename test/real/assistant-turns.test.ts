import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { ASSISTANTS } from '../../src/lib/assistant';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import type { AssistantId } from '../../src/lib/sessions/session-key';
import type { Usage } from '../../src/lib/usage/rollup';
import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { modelServer, TURN_USAGE } from '../helpers/model-server';

/** How an assistant runs one prompt with a model on loopback. */
interface Turn {
  id: AssistantId;
  program: string;
  args: (url: string) => string[];
  env: (url: string, home: string) => Record<string, string>;
  prepare?: (url: string, home: string) => void;
  /** The events that it does not send. */
  omits: readonly string[];
  status: string;
}

const MODEL = 'test-model';
/** Keeps a program from other hosts. Qwen Code would ignore NO_PROXY. */
const CLOSED = { HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' };
const EVENTS = ['session-start', 'prompt', 'tool-before', 'tool-after', 'stop', 'session-end'];

const TURNS: readonly Turn[] = [
  {
    ...{ id: 'codex', program: 'codex', omits: [], status: 'ended' },
    args: (url) => [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', '-m', MODEL],
      ...['--dangerously-bypass-approvals-and-sandbox', '-c', 'model_provider=t', '-c'],
      `model_providers.t={name="t",base_url="${url}",wire_api="responses",env_key="TEST_KEY"}`,
      'RUN-IT',
    ],
    env: () => ({ ...CLOSED, TEST_KEY: 'x' }),
  },
  {
    ...{ id: 'copilot', program: 'copilot', omits: [], status: 'ended' },
    args: () => ['-p', 'RUN-IT', '--allow-all-tools'],
    env: (url, home) => ({
      ...CLOSED,
      ...{ COPILOT_OFFLINE: 'true', COPILOT_PROVIDER_BASE_URL: url, COPILOT_MODEL: MODEL },
      ...{ COPILOT_PROVIDER_API_KEY: 'x', COPILOT_OTEL_ENABLED: 'true', COPILOT_OTEL_EXPORTER_TYPE: 'file' },
      COPILOT_OTEL_FILE_EXPORTER_PATH: join(home, '.copilot', 'otel', 'test.jsonl'),
    }),
  },
  {
    ...{ id: 'opencode', program: 'opencode', omits: [], status: 'ended' },
    args: () => ['run', 'RUN-IT'],
    env: () => ({ ...CLOSED, npm_config_fetch_retries: '0', OPENCODE_DISABLE_MODELS_FETCH: 'true' }),
    prepare(url, home) {
      const npm = '@ai-sdk/openai-compatible';
      const own = { npm, name: 't', options: { baseURL: url, apiKey: 'x' }, models: { [MODEL]: {} } };
      const settings = { provider: { t: own }, model: `t/${MODEL}`, small_model: `t/${MODEL}` };
      writeFileSync(join(home, 'site', 'opencode.json'), JSON.stringify({ ...settings, autoupdate: false }));
    },
  },
  {
    // `qwen -p` reports no end, so the end of its process counts.
    ...{ id: 'qwen', program: 'qwen', omits: ['session-start', 'session-end'], status: 'crashed' },
    args: () => ['RUN-IT', '--yolo', '--auth-type', 'openai'],
    env: (url) => ({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: url, OPENAI_MODEL: MODEL }),
    prepare(_, home) {
      mkdirSync(join(home, '.qwen'));
      const settings = { privacy: { usageStatisticsEnabled: false }, general: { disableAutoUpdate: true } };
      writeFileSync(join(home, '.qwen', 'settings.json'), JSON.stringify(settings));
    },
  },
];

describe('a turn of the real assistant (built)', function () {
  this.timeout(180_000);

  for (const turn of TURNS) {
    const { id, program, omits, status } = turn;
    it(`of ${id} gives its session and its usage`, async function () {
      if (spawnSync(program, ['--version'], { stdio: 'ignore' }).status !== 0) this.skip();
      const home = emptyHome();
      const model = await modelServer();
      try {
        const folder = join(home.path, 'site');
        mkdirSync(folder);
        turn.prepare?.(model.url, home.path);
        const installed = await steward(['hooks', 'install', '--assistant', id], { home: home.path });
        expect(installed.code, installed.stderr).to.equal(0);
        await run(turn, model.url, { home: home.path, folder });

        const { sessions } = jsonOf(
          await steward(['sessions', '--all', '--json'], { home: home.path }),
        ) as SessionsReport;
        expect(sessions.map(({ assistant, status }) => [assistant, status])).to.deep.equal([[id, status]]);
        const log = readFileSync(join(home.path, '.steward', 'state', 'work-events.jsonl'), 'utf8');
        const types = log.split('\n').flatMap((line) => (line === '' ? [] : typeOf(line)));
        const expected = EVENTS.filter((type) => types.includes(type) || !omits.includes(type));
        expect([...new Set(types)].filter((type) => EVENTS.includes(type))).to.deep.equal(expected);

        // The shim records tool calls itself, except about one in a hundred.
        const runs = readFileSync(join(home.path, '.steward', 'observability', 'hooks.jsonl'), 'utf8');
        const isFast = ASSISTANTS.some((one) => one.id === id && one.toolKeys !== undefined);
        const [least, most] = isFast ? [0, 1] : [2, 2];
        expect(runs.match(/"hook":"tool"/g) ?? []).to.have.length.within(least, most);

        const usage = jsonOf(
          await steward(['usage', '--by', 'assistant', '--json'], { home: home.path }),
        ) as Usage;
        const isReadable = id !== 'opencode' || process.getBuiltinModule('node:sqlite') !== undefined;
        expect(usage.rows).to.deep.equal(isReadable ? [{ key: id, ...TURN_USAGE, cost: null }] : []);
      } finally {
        model.close();
        home.remove();
      }
    });
  }
});

function typeOf(line: string): string {
  return (JSON.parse(line) as { type: string }).type;
}

async function run(
  turn: Turn,
  url: string,
  { home, folder }: { home: string; folder: string },
): Promise<void> {
  const child = spawn(turn.program, turn.args(url), {
    cwd: folder,
    env: cleanEnv(home, turn.env(url, home)),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, output).to.equal(0);
  expect(output).to.include('Done.');
}
