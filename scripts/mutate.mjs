// npm run mutate [-- NAME...]: changes the modules that decide, one place at a time, and counts the changes that their
// tests notice; all of them, or the named rows. Not in CI: it takes 20 minutes. StrykerJS for Node.js 20 needs an older mocha
// than the tests use and 120 packages, so it is installed when it is used.
const { Stryker } =
  await import('../node_modules/.cache/steward-mutation/node_modules/@stryker-mutator/core/dist/src/index.js');

/** The modules that decide, below src/lib, and the tests that concern them, below test/lib. */
const MODULES = {
  record: [['time/record'], ['time/record']],
  ledger: [
    ['time/ledger/ledger', 'time/ledger/timeline', 'time/ledger/spans'],
    ['time/ledger/ledger', 'time/ledger/rows'],
  ],
  merge: [
    ['time/machines/merge', 'time/machines/overlap', 'time/machines/split'],
    ['time/machines/split', 'time/machines/overlap', 'time/machines/merge', 'time/machines/laws'],
  ],
  fold: [
    ['sessions/fold', 'sessions/requests'],
    ['sessions/fold', 'sessions/requests', 'sessions/state', 'sessions/liveness', 'sessions/order'],
  ],
  restricted: [['sessions/restricted'], ['sessions/restricted', 'assistant/restricted']],
  agents: [['agents/routing'], ['agents/routing', 'agents/check']],
  routing: [
    ['notify/routing'],
    ['notify/routing', 'notify/quiet-hours', 'notify/at-break', 'notify/dispatch'],
  ],
  outbox: [
    ['notify/outbox', 'notify/lane', 'notify/settle'],
    ['notify/lane', 'notify/retry', 'notify/settle', 'notify/outbox'],
  ],
  spool: [['platform/files/spool'], ['platform/files/spool']],
  lock: [['platform/files/lock'], ['platform/files/lock', 'platform/files/lock.slow']],
  claim: [['work/claim'], ['work/claim', 'work/first-holder']],
  privacy: [['work/privacy'], ['work/privacy']],
  hide: [['assistant/hide'], ['assistant/hide', 'assistant/restricted']],
};

const named = process.argv.slice(2);
const rows = Object.entries(MODULES).filter(([name]) => named.length === 0 || named.includes(name));
const scores = {};
for (const [name, [modules, tests]] of rows) {
  const results = await new Stryker({
    mutate: modules.map((path) => `src/lib/${path}.ts`),
    testRunner: 'mocha',
    mochaOptions: {
      require: ['tsx', './test/helpers/midnight.ts', './test/helpers/own-home.ts'],
      extension: ['ts'],
      spec: tests.map((path) => `test/lib/${path}.test.ts`),
    },
    coverageAnalysis: 'perTest',
    concurrency: 1,
    // A table that is built once would need all tests for each change.
    ignoreStatic: true,
    ignorePatterns: ['dist', '.git'],
    reporters: ['clear-text'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    // Fails if the tests notice less than this.
    thresholds: { high: 90, low: 85, break: 85 },
  }).runMutationTest();
  const killed = results.filter(({ status }) => ['Killed', 'Timeout'].includes(status)).length;
  const valid = results.filter(({ status }) => !['Ignored', 'CompileError'].includes(status)).length;
  scores[name] = `${((100 * killed) / valid).toFixed(1)} % of ${valid}`;
}
console.table(scores);
