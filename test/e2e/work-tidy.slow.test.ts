import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startDaemon, until, type RunningDaemon } from '../helpers/daemon';
import { gitBox } from '../helpers/git';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';

describe('reminders and tidying (built)', function () {
  this.timeout(180_000);
  let github: GitHub;
  let home: ReturnType<typeof emptyHome>;
  let daemon: RunningDaemon | undefined;
  const env = (): Record<string, string> => ({ GITHUB_API_URL: github.url, GH_TOKEN: github.token });
  const run = (...args: string[]): Promise<StewardResult> => steward(args, { home: home.path, env: env() });
  beforeEach(async () => {
    home = emptyHome();
    github = await startGitHub({ labels: true });
    expect((await run('work', 'setup', 'ann/work')).code).to.equal(0);
  });
  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    home.remove();
    await github.close();
  });

  const told = async (): Promise<unknown[]> =>
    (jsonOf(await run('notify', 'history', '--json')) as { event: string }[]).filter(
      ({ event }) => event === 'reminder',
    );

  it('a due reminder notifies once, with the sweep and restarted daemons', async () => {
    const remind = async (text: string, dueMs: number): Promise<void> => {
      const due = new Date(dueMs).toISOString();
      const body = `<!-- steward id=${text} due=${due} -->`;
      await github.api('POST', '/repos/ann/work/issues', { title: `[Reminder] ${text}`, body, labels: ['Type:reminder'] }); // prettier-ignore
    };
    await remind('Ann', Date.now() - 60_000);
    const dry = await run('work', 'sweep', '--dry-run', '--json');
    expect(jsonOf(dry)).to.include({ reminded: 0 });
    expect(jsonOf(await run('work', 'sweep', '--json'))).to.include({ dryRun: false, reminded: 1 });
    expect(jsonOf(await run('work', 'sweep', '--json'))).to.include({ reminded: 0 });
    await remind('Ben', Date.now() - 30_000);
    daemon = await startDaemon({ home: home.path, env: env() });
    await fetch(`${daemon.url}/api/work/refresh`, { method: 'POST' });
    await until('the notice', async () => (await told()).length === 2, 90_000);
    await daemon.stop();
    daemon = await startDaemon({ home: home.path, env: env() });
    await until('its reminders job has run', async () => {
      const { jobs } = (await (await fetch(`${daemon?.url}/api/status`)).json()) as {
        jobs: { id: string; lastOk: boolean | null }[];
      };
      return jobs.some(({ id, lastOk }) => id === 'reminders' && lastOk === true);
    });
    expect(jsonOf(await run('work', 'sweep', '--json'))).to.include({ reminded: 0 });
    expect(await told()).to.have.length(2);
    const snoozed = await run('work', 'snooze', '1', '2h');
    expect(snoozed.stdout).to.match(/^#1 Ann, due /);
    expect((await run('work', 'snooze', '1', 'whenever')).code).to.equal(2);
    expect((await run('work', 'snooze', 'one', '2h')).code).to.equal(2);
  });

  it("tidy finds the session's commits in its repository, and closes the issue with them", async () => {
    const box = gitBox();
    try {
      const repo = box.init('shop');
      const projects = join(home.path, '.steward', 'projects.md');
      writeFileSync(projects, `| Name | Path |\n|---|---|\n| **Shop** | \`${repo}\` |\n`, { mode: 0o600 });
      const hook = (verb: 'session-start' | 'tool' | 'session-end', changes: object) =>
        steward(['hook', verb], { home: home.path, env: env(), input: hookJson(verb, { cwd: repo, ...changes }) }); // prettier-ignore
      await hook('session-start', {});
      // Its issue goes by the slug in the artifact, whatever the folder is called.
      const folder = join(home.path, '.steward', 'sessions', 'login-first-try');
      mkdirSync(folder, { recursive: true });
      const path = join(folder, 'ISA.md');
      const { session_id: session } = JSON.parse(hookJson('prompt')) as { session_id: string };
      writeFileSync(path, `---\nslug: fix-login\nsession: ${session}\ntask: Fix it\nphase: complete\n---\n- [x] It works\n`); // prettier-ignore
      await hook('tool', { tool_name: 'Write', tool_input: { file_path: path } });
      const sha = box.commit(repo, { at: Math.floor(Date.now() / 1000), subject: 'Fix the login' });
      await hook('session-end', {});
      await until('the write-back', () => /\ngithub_issue: 1\n/.test(readFileSync(path, 'utf8')));
      expect((await run('work', 'deliver')).code).to.equal(0);
      const dry = await run('work', 'tidy', '--dry-run', '--json');
      expect(dry.code, dry.stdout + dry.stderr).to.equal(0);
      expect(jsonOf(dry)).to.deep.include({
        applied: false,
        closed: [],
        proposed: [
          {
            number: 1,
            title: 'Fix it',
            url: `${github.url}/ann/work/issues/1`,
            commits: [`${sha.slice(0, 7)} Fix the login`],
            claims: ['It works'],
          },
        ],
      });
      expect((await run('work', 'tidy', '--dry-run')).stdout).to.include('evidence: steward work tidy');
      expect((await run('work', 'tidy')).stdout).to.match(/^#1 Fix it: closed\n/);
      expect((await run('work', 'tidy')).stdout).to.equal('No open issues are labeled Status:done.\n');
    } finally {
      box.remove();
    }
  });

  it('tidy and the sweep send no commits and no project of a restricted repository', async () => {
    const box = gitBox();
    try {
      const [shop, vault, garden] = [box.init('shop'), box.init('vault'), box.init('garden')];
      const projects = join(home.path, '.steward', 'projects.md');
      const rows = [['Shop', shop], ['Merger', vault], ['Garden', garden]].map(([name, path]) => `| **${name}** | \`${path}\` |`); // prettier-ignore
      writeFileSync(projects, `| Name | Path |\n|---|---|\n${rows.join('\n')}\n`, { mode: 0o600 });
      const nowSec = Math.floor(Date.now() / 1000);
      for (const repo of [vault, garden]) box.commit(repo, { at: nowSec - 20 * 86_400 });
      const fileOf = (slug: string): string => join(home.path, '.steward', 'sessions', slug, 'ISA.md');
      const work = async (session: string, slug: string, phase: string): Promise<void> => {
        const hook = (verb: 'session-start' | 'tool' | 'session-end', changes: object) =>
          steward(['hook', verb], { home: home.path, env: env(), input: hookJson(verb, { cwd: shop, session_id: session, ...changes }) }); // prettier-ignore
        await hook('session-start', {});
        mkdirSync(join(fileOf(slug), '..'), { recursive: true });
        const text = `session: ${session}\ntask: Task of ${slug}\nphase: ${phase}\n---\n- [x] Checked ${slug}\n`;
        writeFileSync(fileOf(slug), `---\nslug: ${slug}\n${text}`);
        await hook('tool', { tool_name: 'Write', tool_input: { file_path: fileOf(slug) } });
        await hook('session-end', {});
      };
      await work('one', 'fix-login', 'complete');
      await until('the write-back', () =>
        /\ngithub_issue: 1\n/.test(readFileSync(fileOf('fix-login'), 'utf8')),
      );
      expect((await run('work', 'deliver')).code).to.equal(0);
      for (const repo of [shop, vault]) writeFileSync(join(repo, 'RESTRICTED.md'), '');
      box.commit(shop, { at: nowSec, subject: 'Prepare the merger' });
      const sent = github.seen.length;
      const tidied = jsonOf(await run('work', 'tidy', '--json')) as { proposed: object[] };
      expect(tidied.proposed[0]).to.deep.include({ commits: [], claims: ['Checked fix-login'] });
      const swept = jsonOf(await run('work', 'sweep', '--json')) as { titles: string[] };
      expect(swept.titles.map((title) => title.split(' \u2014 ')[0])).to.deep.equal([
        '[Project-Check] Garden',
      ]);
      const bodies = github.seen.slice(sent).map(({ body }) => body).join('\n'); // prettier-ignore
      for (const word of ['merger', 'Merger']) expect(bodies).to.not.include(word);
    } finally {
      box.remove();
    }
  });
});
