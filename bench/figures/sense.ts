import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { bareEnvironment } from '../../test/helpers/git';
import { BIN, cleanEnv, definedOnly, emptyHome } from '../../test/helpers/cli';
import { addDays } from '../../src/lib/platform/time/time';
import { makeClassifier } from '../../src/lib/time/classify';
import { userArea } from '../../src/lib/config/user-area';
import { processHost } from '../../src/lib/platform/files/paths';
import { senseStore } from '../../src/lib/sense/store';
import type { Figure, Limit, Prepared } from '../figure';
import { buildDailyRecord } from '../../test/helpers/sense';

const REPOSITORIES = 200;
const EVENTS = 10_000;
const DAYS = 365;
const MEMORY_MIB = 80;

/** Commands with much data, compared with little or none; and the peak memory of a capture. */
export const FIGURES: readonly Figure[] = [
  beside(`sense capture, ${REPOSITORIES} unchanged`, ['sense', 'capture'], { moreMs: 25 }, 'none', (home) =>
    watchRepositories(home, REPOSITORIES),
  ),
  beside(`sense today, ${EVENTS} events`, ['sense', 'today'], { moreMs: 120 }, 'none', (home) =>
    captureEvents(home, EVENTS),
  ),
  beside(`sense recent, ${DAYS} days`, ['sense', 'recent', '--days', '365'], { moreMs: 100 }, '1 day', (home, much) =>
    storeRecords(home, much ? DAYS : 1),
  ),
  {
    name: `time --of year, ${DAYS} days`,
    limit: { moreMs: 150 },
    rounds: 30,
    prepare() {
      const home = emptyHome();
      writeConfig(home.path, []);
      storeLedgers(home.path, DAYS);
      const args = ['time', '--of', 'year'];
      return { program: program(home.path, args), yardstick: bare(home.path), against: 'node -e 0', remove: home.remove };
    },
  },
  {
    name: `sense capture, peak memory (${REPOSITORIES})`,
    limit: { mib: MEMORY_MIB },
    prepare() {
      const home = emptyHome();
      watchRepositories(home.path, REPOSITORIES);
      return { program: program(home.path, ['sense', 'capture']), yardstick: bare(home.path), against: 'node -e 0', remove: home.remove };
    },
  },
]; // prettier-ignore

/** Compares a command in a home with much data with the same in a home with little or none. */
function beside(
  name: string,
  args: readonly string[],
  limit: Limit,
  against: string,
  fill: (home: string, much: boolean) => void,
): Figure {
  return {
    name,
    limit,
    rounds: 30,
    prepare(): Prepared {
      const [much, little] = [emptyHome(), emptyHome()];
      for (const home of [much.path, little.path]) writeConfig(home, []);
      fill(much.path, true);
      if (against !== 'none') fill(little.path, false);
      return {
        program: program(much.path, args),
        yardstick: program(little.path, args),
        against,
        remove() {
          much.remove();
          little.remove();
        },
      };
    },
  };
}

function program(home: string, args: readonly string[]) {
  return { args: [BIN, ...args], env: definedOnly(cleanEnv(home)) };
}

function bare(home: string) {
  return { args: ['-e', '0'], env: definedOnly(cleanEnv(home)) };
}

function writeConfig(home: string, repos: readonly string[]): void {
  const folder = join(home, '.steward', 'sense');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ version: 1, repos }), { mode: 0o600 });
}

/** Creates repositories with a year-old commit; the first warm-up capture scans them. */
function watchRepositories(home: string, count: number): void {
  const first = join(home, 'src', 'r0');
  const env = { ...bareEnvironment(home), GIT_AUTHOR_DATE: OLD, GIT_COMMITTER_DATE: OLD };
  mkdirSync(first, { recursive: true });
  const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: first, env, stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'me@example.org');
  git('config', 'user.name', 'Me');
  git('commit', '-q', '--allow-empty', '-m', 'First');
  const paths = Array.from({ length: count }, (_, n) => join(home, 'src', `r${n}`));
  for (const path of paths.slice(1)) cpSync(first, path, { recursive: true });
  writeConfig(home, paths);
}

const OLD = '2025-01-01T00:00:00Z';

function captureEvents(home: string, count: number): void {
  const today = new Date().toISOString().slice(0, 10);
  const folder = join(home, '.steward', 'sense', 'events');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const start = Date.parse(`${today}T00:00:00Z`);
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      ts: new Date(start + n * 8000).toISOString(),
      type: 'app-focus',
      source: 'appFocus',
      app: `App ${n % 40}`,
      detail: { intervalSec: 8, via: 'x11', bundleId: `app-${n % 40}`, machine: '0123456789ab' },
    }),
  );
  writeFileSync(join(folder, `${today}.jsonl`), `${lines.join('\n')}\n`, { mode: 0o600 });
}

function storeRecords(home: string, days: number): void {
  const folder = join(home, '.steward', 'sense', 'daily');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let n = 0; n < days; n += 1) {
    const date = addDays('2026-11-20', -n);
    const events = Array.from({ length: 240 }, (_, i) => ({
      ts: new Date(Date.parse(`${date}T08:00:00Z`) + i * 120_000).toISOString(),
      type: 'app-focus' as const,
      source: 'appFocus',
      app: `App ${i % 20}`,
      detail: { intervalSec: 120 },
    }));
    const record = buildDailyRecord(date, events, {
      timezone: 'UTC',
      pollIntervalSec: 120,
      classify: makeClassifier('templates'),
      version: '1.0.0',
      generatedAt: `${date}T23:59:00.000Z`,
      final: true,
    });
    writeFileSync(join(folder, `${date}.json`), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  }
}

/** Stores days of eight hours with 20 applications and eight sessions in three repositories. */
function storeLedgers(home: string, days: number): void {
  const store = senseStore(userArea({ ...processHost(), home, env: {} }));
  store.prepare();
  const today = new Date().toISOString().slice(0, 10);
  for (let n = 1; n <= days; n += 1) {
    const date = addDays(today, -n);
    const at = (minute: number): string =>
      new Date(Date.parse(`${date}T08:00:00Z`) + minute * 60_000).toISOString();
    const session = (i: number) => {
      const n = i % 8;
      return {
        id: `${date}-4e0f-9a3b-5d2c-${n}`,
        repo: `repository-${n % 3}`,
        branch: `feature/${n}-branch`,
      };
    };
    const focus = Array.from({ length: 240 }, (_, i) => {
      const { id, repo, branch } = session(Math.floor(i / 3));
      const detail = { intervalSec: 120, branch, sessions: [id] };
      return {
        ...{ ts: at(i * 2 + 2), type: 'app-focus' as const, source: 'appFocus' },
        ...(i % 3 === 0
          ? { app: `App ${i % 20}`, detail: { intervalSec: 120 } }
          : { app: 'Ghostty', repo, detail }),
      };
    });
    const states = Array.from({ length: 160 }, (_, i) => {
      const { id, repo, branch } = session(Math.floor(i / 4));
      const state = ['working', 'waiting', 'working', 'ready'][i % 4];
      return {
        ...{ ts: at(i * 3), type: 'session-state' as const, source: 'agentSession', repo },
        detail: { session: id, state, branch, ...(i % 4 === 0 ? { prompt: true } : {}) },
      };
    });
    const record = buildDailyRecord(date, [...focus, ...states], {
      ...{ timezone: 'UTC', pollIntervalSec: 120, classify: makeClassifier('templates') },
      ...{ version: '1.2.0', generatedAt: `${date}T23:59:00.000Z`, final: true },
    });
    store.writeRecord(record, '');
  }
}
