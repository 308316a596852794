import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { DONE, KEY, NEXT_DOOR, requireAssistant, startHour, type Hour } from '../helpers/assistant-hour';
import { until } from '../helpers/desktop-kit';

/** How one assistant looks and what it can do. */
interface Program {
  id: string;
  program: string;
  prepare(hour: Hour): void;
  env(url: string): Record<string, string>;
  /** What the screen shows once it takes a prompt, and with this prompt in its input. */
  ready: string | RegExp;
  typed(text: string): RegExp;
  /** What the screen shows once the input is empty and the turn is over, if the program ignores Enter before. */
  idle?: string;
  /** Whether a session is reported when it starts, and not with its first prompt. */
  reportsStart: boolean;
  permission: { shows: string; says: string };
  question: { shows: string };
  /** The key that changes the mode, and the modes up to the one that makes plans. */
  plan: { key: string; modes: readonly string[]; shows: string; says: string };
  /** The error that ends a turn at once. */
  failure: { prompt: string; shows: string; says: string };
  /** What the screen shows while the model thinks, and once this is interrupted. */
  thinking: string;
  interrupted: RegExp;
  /** What the screen shows if Esc must be pressed again. */
  again?: RegExp;
}

const MODEL = 'test-model';
/** How often the same thing is seen on the screen before Esc is pressed again. */
const PATIENCE = 100;
/** Keeps a program from other hosts. Qwen Code would ignore NO_PROXY. */
const CLOSED = { HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' };
const PLAN = 'waiting: has a plan for you to approve';

const qwen: Program = {
  ...{ id: 'qwen', program: 'qwen', reportsStart: true },
  prepare({ home }) {
    const settings = { privacy: { usageStatisticsEnabled: false }, general: { disableAutoUpdate: true } };
    const security = { auth: { selectedType: 'openai' } };
    write(join(home, '.qwen'), 'settings.json', { ...settings, security });
  },
  env: (url) => ({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: url, OPENAI_MODEL: MODEL }),
  ready: 'for shortcuts',
  // Qwen Code draws its cursor as a space without a width.
  typed: (text) => new RegExp(`> ${text}[\\s\\u200b]*\\n[^>]*$`),
  permission: { shows: 'Yes, allow once', says: 'waiting: asks to run run_shell_command' },
  question: { shows: 'Enter: Select' },
  plan: {
    key: KEY.shiftTab,
    modes: ['auto-accept edits', 'YOLO mode', 'plan mode'],
    shows: 'Would you like to proceed?',
    says: PLAN,
  },
  failure: { prompt: 'LOSE-KEY', shows: 'API Error', says: 'waiting: stopped: authentication failed' },
  thinking: 'esc to cancel',
  interrupted: /Request cancelled/,
};

const copilot: Program = {
  ...{ id: 'copilot', program: 'copilot', reportsStart: false },
  prepare: ({ home, folder }) => write(join(home, '.copilot'), 'config.json', { trustedFolders: [folder] }),
  env: (url) => ({
    ...CLOSED,
    ...{ COPILOT_OFFLINE: 'true', COPILOT_PROVIDER_BASE_URL: url, COPILOT_MODEL: MODEL },
    COPILOT_PROVIDER_API_KEY: 'x',
  }),
  ready: '/ commands',
  idle: '/ commands',
  // Copilot suggests the words that may follow a command.
  typed: (text) => new RegExp(`❯ ${text}( \\[\\w+\\])?\\s*\\n[^❯]*$`),
  permission: { shows: 'Do you want to run this command?', says: 'waiting: asks for permission' },
  question: { shows: 'Copilot needs information' },
  plan: { key: KEY.shiftTab, modes: ['Plan ·'], shows: 'Plan Ready for Review', says: PLAN },
  failure: { prompt: 'HIT-LIMIT', shows: '429', says: 'waiting: stopped: rate limit' },
  thinking: 'Working',
  // Copilot gives the prompt back, as if it had not been sent.
  interrupted: /❯ WAIT-LONG\s*\n[^❯]*$/,
  again: /esc again to (interrupt|edit prompt)/,
};

const opencode: Program = {
  ...{ id: 'opencode', program: 'opencode', reportsStart: false },
  prepare({ folder, model }) {
    const npm = '@ai-sdk/openai-compatible';
    const own = { npm, name: 't', options: { baseURL: model.url, apiKey: 'x' }, models: { [MODEL]: {} } };
    const models = { provider: { t: own }, model: `t/${MODEL}`, small_model: `t/${MODEL}` };
    const settings = { autoupdate: false, share: 'disabled', permission: { bash: 'ask' } };
    write(folder, 'opencode.json', { ...models, ...settings });
  },
  env: () => ({
    ...CLOSED,
    ...{ npm_config_fetch_retries: '0', OPENCODE_DISABLE_MODELS_FETCH: 'true' },
    OPENCODE_EXPERIMENTAL_PLAN_MODE: 'true',
  }),
  ready: 'Ask anything',
  typed: (text) => new RegExp(`┃ {2}${text} *\\n\\s*┃ *\\n\\s*┃ {2}(Build|Plan) ·`),
  permission: { shows: 'Permission required', says: 'waiting: asks to run bash' },
  question: { shows: 'Which one?' },
  // OpenCode asks a question about its plan.
  plan: {
    key: 'Tab',
    modes: ['Plan · test'],
    shows: 'switch to the build agent',
    says: 'waiting: asks you a question',
  },
  failure: { prompt: 'LOSE-KEY', shows: 'not valid', says: 'waiting: stopped: authentication failed' },
  thinking: 'esc interrupt',
  interrupted: /· interrupted\s*(┃\s*)+(Build|Plan) ·/,
  again: /esc again to interrupt/,
};

describe('an hour with a real assistant in tmux, without a desktop (built)', function () {
  this.timeout(900_000);
  let hour: Hour | undefined;

  afterEach(async () => {
    await hour?.close();
    hour = undefined;
  });

  for (const program of [qwen, copilot, opencode]) {
    it(`of ${program.id} gives the right list at every step`, async function () {
      requireAssistant(this, program.program);
      hour = await startHour();
      program.prepare(hour);
      await hour.steward('hooks', 'install', '--assistant', program.id);
      await hour.attach(NEXT_DOOR);
      await start(hour, program, 'one', DONE);
      await answerRequests(hour, program);
      await interrupt(hour, program);
      await openSecond(hour, program);
      await failAndPlan(hour, program);
      await end(hour, program);
      console.log(`      ${hour.summary()}`);
    });
  }
});

function write(folder: string, name: string, settings: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), JSON.stringify(settings));
}

async function say({ shows, press, say }: Hour, own: Program, pane: string, text: string): Promise<void> {
  if (own.idle !== undefined) {
    press(pane, KEY.clear);
    await shows(pane, own.idle);
  }
  await say(pane, text, own.typed);
}

async function start(hour: Hour, own: Program, pane: string, ...expected: string[]): Promise<void> {
  const { open, shows, lists } = hour;
  open(pane, [own.program], own.env(hour.model.url));
  await shows(pane, own.ready);
  if (!own.reportsStart) {
    await say(hour, own, pane, 'Hello');
    await shows(pane, 'Done.');
  }
  await lists('start', ...expected);
}

async function answerRequests(hour: Hour, own: Program): Promise<void> {
  const { shows, press, lists, goes } = hour;
  const { permission, question } = own;
  for (const key of [KEY.enter, KEY.escape]) {
    await say(hour, own, 'one', 'RUN-IT');
    await shows('one', permission.shows);
    await lists('a permission', permission.says);
    await goes('one');
    press('one', key);
    await lists(`a permission, ${key}`, DONE);
  }
  for (const key of [KEY.enter, KEY.escape]) {
    await say(hour, own, 'one', 'ASK-ME');
    await shows('one', question.shows);
    await lists('a question', 'waiting: asks you a question');
    await goes('one');
    press('one', key);
    await lists(`a question, ${key}`, DONE);
  }
}

async function interrupt(hour: Hour, own: Program): Promise<void> {
  const { shows, press, lists, screen } = hour;
  const { again, interrupted } = own;
  await say(hour, own, 'one', 'WAIT-LONG');
  await shows('one', own.thinking);
  await lists('thinking', 'working: thinking');
  // A second Esc must follow the first soon, so a slow machine takes several attempts. One Esc for each thing shown: one
  // too many would change the prompt that Copilot gives back.
  let [before, looks] = ['', 0];
  await until('the end of the turn', () => {
    const shown = screen('one');
    if (interrupted.test(shown)) return true;
    const now = again?.test(shown) === true ? 'again' : shown.includes(own.thinking) ? 'thinking' : '';
    looks = now === before ? looks + 1 : 0;
    if (now !== '' && looks % PATIENCE === 0) press('one', KEY.escape);
    before = now;
    return false;
  });
  await lists('Esc', DONE);
}

/** Two sessions in one repository: a request before a finished turn. */
async function openSecond(hour: Hour, own: Program): Promise<void> {
  const { shows, press, lists, goes } = hour;
  await start(hour, own, 'two', DONE, DONE);
  await say(hour, own, 'two', 'RUN-IT');
  await shows('two', own.permission.shows);
  await lists('a request before a finished turn', own.permission.says, DONE);
  await goes('two');
  await goes('one', '2');
  press('two', KEY.escape);
  await lists('both wait', DONE, DONE);
}

async function failAndPlan(hour: Hour, own: Program): Promise<void> {
  const { shows, press, lists, goes } = hour;
  const { failure, plan } = own;
  await say(hour, own, 'two', failure.prompt);
  await shows('two', failure.shows);
  await lists('an error', failure.says, DONE);

  for (const mode of plan.modes) {
    press('one', plan.key);
    await shows('one', mode);
  }
  await say(hour, own, 'one', 'PLAN-IT');
  await shows('one', plan.shows);
  await lists('a plan', failure.says, plan.says);
  await goes('one', '2');
  press('one', KEY.escape);
  await lists('a plan, Escape', failure.says, DONE);
}

/** One session ends on request; the assistant of the other is killed. */
async function end(hour: Hour, own: Program): Promise<void> {
  const { lists, rows, tmux } = hour;
  await say(hour, own, 'one', '/quit');
  await lists('/quit', own.failure.says);
  const [{ pid } = { pid: null }] = await rows();
  expect(pid).to.be.a('number');
  process.kill(Number(pid), 'SIGKILL');
  await lists('kill', 'crashed');
  await until('the panes close', () => tmux('list-sessions', '-F', '#S').trim() === NEXT_DOOR);
}
