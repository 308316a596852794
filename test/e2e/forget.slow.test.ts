import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { areaAt, type UserArea } from '../../src/lib/config/user-area';
import type { DaemonStatus } from '../../src/lib/daemon/status';
import { HELD } from '../../src/lib/sessions/held';
import { namesFolder } from '../../src/lib/sessions/names';
import { emptyHome, steward } from '../helpers/cli';
import { ask, startDaemon, until } from '../helpers/daemon';
import { startGitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';

const SECRETS = ['id-4f1c9b', '/home/ann/path-4f1c9b', 'title-4f1c9b'];

describe('what is left after names are deleted (built)', function () {
  this.timeout(60_000);
  let home: ReturnType<typeof emptyHome>;
  let area: UserArea;
  beforeEach(() => {
    home = emptyHome();
    area = areaAt(join(home.path, '.steward'), '', { platform: process.platform, env: {}, home: home.path });
  });
  afterEach(() => home.remove());

  let env: Record<string, string> = {};
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await steward(args, { home: home.path, env });
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const text = SECRETS.join(' ');
  const put = (path: string): void => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${JSON.stringify({ text })}\n`, { mode: 0o600 });
  };
  /** Writes every file of the table, with a rotated log, a damaged copy and the temp file of a killed run. */
  const seed = (): void => {
    for (const { name, at } of HELD) {
      const path = at(area);
      if (name.endsWith('/')) put(join(path, 'dead', 'x.json'));
      if (name.endsWith('/')) put(join(path, '.x.json.0123456789ab.tmp'));
      else
        for (const file of [
          path,
          `${path}.1`,
          join(dirname(path), `.${path.slice(dirname(path).length + 1)}.0123456789ab.tmp`),
        ])
          put(file);
    }
  };
  const filesWith = (words: readonly string[]): string[] =>
    readdirSync(home.path, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const path = join(home.path, name);
      return (
        statSync(path, { throwIfNoEntry: false })?.isFile() === true &&
        words.some((word) => readFileSync(path, 'latin1').includes(word))
      );
    });

  it('is nothing that holds a session id, a path or a title', async () => {
    seed();
    expect(filesWith(SECRETS).length).to.be.at.least(2 * HELD.length);
    const planned = await run('sessions', 'forget');
    await run('sessions', 'forget', '--yes');
    await run('sense', 'purge', '--all', '--records', '--yes');
    expect(filesWith(SECRETS)).to.deep.equal([]);
    for (const { by, at } of HELD) if (by.includes('forget')) expect(planned).to.include(at(area));
  });

  it('is nothing of real sessions and commits either', async () => {
    const repo = join(home.path, 'codename');
    mkdirSync(join(repo, '.git'), { recursive: true });
    writeFileSync(join(repo, '.git', 'HEAD'), 'ref: refs/heads/codename-branch\n');
    const log = join(home.path, '.claude', 'projects', 'codename', 'id-4f1c9b.jsonl');
    mkdirSync(dirname(log), { recursive: true });
    const entry = { type: 'assistant', timestamp: new Date().toISOString(), sessionId: 'id-4f1c9b', cwd: repo, requestId: 'r', message: { id: 'm', model: 'x', usage: { input_tokens: 5, output_tokens: 7 } } }; // prettier-ignore
    appendFileSync(log, `${JSON.stringify(entry)}\n`);
    await run('config', 'set', 'sessions.titles', 'true');
    const github = await startGitHub({ labels: true });
    env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    await run('work', 'setup', 'ann/work');
    for (const event of ['session-start', 'prompt', 'stop'] as const) {
      const input = hookJson(event, {
        session_id: 'id-4f1c9b',
        cwd: repo,
        transcript_path: log,
        prompt: 'queue the title-4f1c9b for later',
      });
      await steward(['hook', event], { home: home.path, input, env });
    }
    const session = join(area.sessions, 'codename-slug', 'session.md');
    put(session);
    writeFileSync(session, '---\ntask: title-4f1c9b\nphase: execute\nslug: codename-slug\n---\n');
    await run('work', 'sweep');
    await run('notify', 'send', 'title-4f1c9b', '--slug', 'codename-slug');
    await run('sense', 'capture');
    await run('usage');
    const daemon = await startDaemon({ home: home.path, env });
    await until('its first captures', async () => {
      const { jobs } = JSON.parse((await ask(`${daemon.url}/api/status`)).text) as DaemonStatus;
      return jobs.every(({ lastRun }) => lastRun !== null);
    });
    await daemon.stop();
    await github.close();
    const kept = (): string[] =>
      filesWith(['4f1c9b', 'codename']).filter((name) => !/^(?:codename|\.claude)/.test(name));
    expect(kept().length).to.be.at.least(4);
    await run('sessions', 'forget', '--yes');
    await run('sense', 'purge', '--all', '--records', '--yes');
    // Your session files and the copy of your issues stay.
    const stays = /^\.steward\/(?:sessions|work\/(?:cache\.json|board\.json|tasklist))/;
    expect(kept().filter((name) => !stays.test(name))).to.deep.equal([]);
  });

  it('is no temp file of a killed run, after a write in its folder and after a purge', async () => {
    const [settings, work] = ['.settings.json', 'work/.cache.json'].map((name) => join(area.root, `${name}.0123456789ab.tmp`)); // prettier-ignore
    for (const path of [settings, work]) {
      put(String(path));
      utimesSync(String(path), 0, Date.now() / 1000 - 3700);
    }
    await run('config', 'set', 'notifications.push.enabled', 'false');
    expect(filesWith(SECRETS)).to.deep.equal(['.steward/work/.cache.json.0123456789ab.tmp']);
    await run('sense', 'purge', '--all', '--yes');
    expect(filesWith(SECRETS)).to.deep.equal([]);
  });

  it('is where this version stores it', () => {
    const { sessionsState, sessionsLive, workEvents, spool, inbox, asks, outbox, notifyLog, daemonLog } =
      area;
    const stored = [
      sessionsState,
      sessionsLive,
      workEvents,
      spool,
      inbox,
      asks,
      outbox,
      notifyLog,
      daemonLog,
    ];
    const others = [area.work.ledger, area.sense.logs, namesFolder(area.machine)];
    expect(HELD.map(({ at }) => at(area))).to.include.members([...stored, ...others]);
  });

  it('is named in SECURITY.md', () => {
    const page = readFileSync('SECURITY.md', 'utf8');
    expect(HELD.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))).to.deep.equal([]);
  });
});
