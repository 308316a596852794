import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

import { launchBrowser } from '../helpers/browser';
import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startDaemon, until, type RunningDaemon } from '../helpers/daemon';
import { openPage, textOf } from '../helpers/dashboard';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { notifyServer, type NotifyServer } from '../helpers/notify-server';
import { requirePrograms } from '../helpers/real-part';
import { captureNow } from '../helpers/sense';

interface Hosted {
  title: string;
  state: string;
  labels: { name: string }[];
}

describe('two tabs and a terminal that change the same issue, session and notification (built)', function () {
  this.timeout(240_000);
  let browser: Browser;
  let home: ReturnType<typeof emptyHome>;
  let github: GitHub;
  let push: NotifyServer;
  let daemon: RunningDaemon;
  let tabs: [Page, Page];
  let env: Record<string, string>;
  let day: string;

  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    home = emptyHome();
    github = await startGitHub({ labels: true });
    push = await notifyServer(() => ({ status: 404 }));
    env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    const area = join(home.path, '.steward');
    mkdirSync(area, { recursive: true });
    const notifications = { push: { topic: 'topic-1', token: 'tk_1', server: push.url } };
    writeFileSync(join(area, 'settings.json'), JSON.stringify({ notifications }), { mode: 0o600 });
    day = captureNow(home.path, 'Sketchpad');
    await run(['work', 'setup', 'ann/work']);
    for (const title of ['Fix the login', 'Fix the till', 'Fix the door']) await run(['work', 'add', title]);
    await run(['work', 'remind', 'call Ann', '--at', 'tomorrow 9am']);
    for (const event of ['session-start', 'prompt'] as const)
      await run(['hook', event, '--no-tab'], hookJson(event, { cwd: home.path, session_id: 'one' }));
    daemon = await startDaemon({ home: home.path, env });
    browser = await launchBrowser();
    const open = async (): Promise<Page> => {
      const { stdout } = await run(['open', '--print']);
      return (await openPage(browser, stdout.trim(), { now: null })).page;
    };
    tabs = [await open(), await open()];
  });
  after(async () => {
    await browser?.close();
    await daemon?.stop();
    await push?.close();
    await github?.close();
    home?.remove();
  });

  const run = (args: readonly string[], input = ''): Promise<StewardResult> =>
    steward(args, { home: home.path, input, env });
  const hosted = async (number: number): Promise<Hosted> =>
    (await github.api('GET', `/repos/ann/work/issues/${number}`)) as Hosted;
  const labelsOf = async (number: number, kind: string): Promise<string[]> =>
    (await hosted(number)).labels.map(({ name }) => name).filter((name) => name.startsWith(kind));

  /** Does something in both tabs while a command runs. */
  async function race(act: (tab: Page, index: number) => Promise<unknown>, command: readonly string[]) {
    const [, , result] = await Promise.all([act(tabs[0], 0), act(tabs[1], 1), run(command)]);
    return result.code;
  }

  async function goTo(path: string, ready: string): Promise<void> {
    for (const tab of tabs) {
      await tab.goto(`${daemon.url}${path}`);
      await tab.locator(ready).first().waitFor();
    }
  }

  /** Opens the details of an issue in both tabs. */
  async function unfold(number: number): Promise<void> {
    await goTo('/work', `[data-open="${number}"]`);
    for (const tab of tabs) {
      await tab.locator(`[data-open="${number}"]`).click();
      await tab.locator(`[data-key="${number}"] .details`).waitFor();
    }
  }

  /** Waits until both tabs show the same text, for which a condition holds. */
  async function agree(selector: string, holds: (text: string) => boolean): Promise<void> {
    await until(`both tabs agree on ${selector}`, async () => {
      const [one, two] = await Promise.all(tabs.map((tab) => textOf(tab, selector)));
      return one === two && holds(one!);
    });
  }
  /** Waits until both tabs say what became of a change. */
  const told = (): Promise<void> =>
    until('both tabs say what became of it', async () => {
      const texts = await Promise.all(
        tabs.map((tab) => tab.locator('#done, .details [role=alert]').allTextContents()),
      );
      return texts.every((own) => own.some((text) => text.trim() !== ''));
    });

  it('claim an issue for one agent', async () => {
    await unfold(1);
    await race(
      (tab) => tab.locator('[data-key=claim-1] button').click(),
      ['work', 'claim', '1', '--agent', 'kai'],
    );
    await told();
    const [agent, ...others] = await labelsOf(1, 'Agent:');
    expect(others).to.deep.equal([]);
    await agree('[data-key="1"] .badges', (text) => text.includes(`@${agent!.slice('Agent:'.length)}`));
  });

  it('move an issue, and show it in the same state', async () => {
    await unfold(2);
    await race(
      async (tab, i) => {
        await tab.locator('[data-key="2"] [name=status]').selectOption(i === 0 ? 'ready' : 'in-review');
        await tab.locator('[data-key=move-2] button').click();
      },
      ['work', 'claim', '2', '--agent', 'kai'],
    );
    await told();
    // GitHub has no atomic exchange of labels, so it can keep two; what is shown is one of them, everywhere.
    const states = await labelsOf(2, 'Status:');
    expect(states).to.not.be.empty;
    await agree('[data-key="2"] .details .muted', (text) =>
      states.some((state) => text.includes(state.slice(7))),
    );
  });

  it('close an issue, and lose no evidence', async () => {
    await unfold(3);
    const code = await race(
      async (tab, i) => {
        await tab.locator('[data-key="3"] [name=evidence]').fill(`tab ${i}`);
        await tab.locator('[data-key=close-3] button').click();
      },
      ['work', 'close', '3', '--evidence', 'terminal'],
    );
    expect([0, 6]).to.include(code);
    await until('the issue is closed', async () => (await hosted(3)).state === 'closed');
    await agree('#facts', (text) => /1 closed\.$/.test(text));
    const comments = (await github.api('GET', '/repos/ann/work/issues/3/comments')) as { body: string }[];
    expect(comments.length).to.be.within(1, 3);
    expect(new Set(comments.map(({ body }) => body)).size).to.equal(comments.length);
  });

  it('remind of three things, each once', async () => {
    await goTo('/work', '[data-key=Remind] summary');
    await race(
      async (tab, i) => {
        await tab.locator('[data-key=Remind] summary').click();
        await tab.locator('[data-key=Remind] input').fill(`water plant ${i} tomorrow at 9`);
        await tab.locator('[data-key=Remind] button').click();
      },
      ['work', 'remind', 'water plant 2', '--at', 'tomorrow 9am'],
    );
    await told();
    const issues = (await github.api('GET', '/repos/ann/work/issues?per_page=100')) as Hosted[];
    const plants = issues.map(({ title }) => /water plant \d/.exec(title)?.[0]).filter(Boolean);
    expect(plants.sort()).to.deep.equal(['water plant 0', 'water plant 1', 'water plant 2']);
  });

  it('name a session: the last one wins, everywhere', async () => {
    await goTo('/sessions', '.sessions summary');
    for (const tab of tabs) await tab.locator('.sessions summary').first().click();
    await race(
      async (tab, i) => {
        await tab.locator('[data-name] input').fill(`Tab ${i}`);
        await tab.locator('[data-name] button').click();
      },
      ['sessions', 'name', '1', 'Terminal'],
    );
    await until('the list and both tabs agree', async () => {
      const { sessions } = jsonOf(await run(['sessions', '--json'])) as { sessions: { givenName: string }[] };
      const names = await Promise.all(tabs.map((tab) => textOf(tab, '.sessions .name')));
      return names.every((name) => name === sessions[0]!.givenName);
    });
  });

  it('send a notification again once', async () => {
    await run(['notify', 'send', '--event', 'attention', 'Deployed']);
    await until('it failed', async () => (await run(['notify', 'history'])).stdout.includes('404'));
    await goTo('/status', '[data-act=retry]');
    const before = push.got.length;
    push.usual = () => ({ status: 200, body: { id: 'm1' } });
    const { id } = (jsonOf(await run(['notify', 'history', '--json'])) as { id: string }[])[0]!;
    await race((tab) => tab.locator('[data-act=retry]').first().click(), ['notify', 'retry', id]);
    // Above the list, only a tab whose retry was taken says "Retried".
    await agree('#history li', (text) => text.includes('push delivered'));
    expect(push.got.length).to.equal(before + 1);
  });

  it('take back the new kind of an application: the record and both tabs agree', async () => {
    await goTo(`/sense?day=${day}`, 'select[data-app=Sketchpad]');
    // Each tab chooses another kind: the second may already show what the first chose.
    for (const [tab, kind] of [
      [tabs[0], 'creation'],
      [tabs[1], 'consumption'],
    ] as const) {
      await tab.locator('select[data-app=Sketchpad]').selectOption(kind);
      await tab.locator('#classified button').waitFor();
    }
    await race(
      (tab) => tab.locator('#classified button').click(),
      ['sense', 'classify', 'set', 'Sketchpad', 'consumption'],
    );
    await until('the record and both tabs agree', async () => {
      const record = jsonOf(await run(['sense', 'today', '--of', day, '--json'])) as Record<string, number>;
      const kind = ['creation', 'neutral', 'consumption'].find((one) => record[`${one}Minutes`] === 2);
      const facts = await Promise.all(tabs.map((tab) => textOf(tab, '#facts')));
      return facts.every((text) => text.includes(`2 m ${kind}`));
    });
  });

  it('go to the same terminal, and say where it is', async function () {
    requirePrograms(this, { tmux: 'tmux', script: 'bsdutils' });
    const options = {
      env: cleanEnv(home.path, { TERM: 'xterm', SHELL: '/bin/sh' }),
      encoding: 'utf8',
    } as const;
    const socket = join(home.path, 'tmux.sock');
    const tmux = (...args: string[]): string =>
      execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], options).trim();
    const event = (name: 'session-start' | 'stop'): string => {
      const file = join(home.path, `${name}.json`);
      writeFileSync(file, hookJson(name, { cwd: home.path, session_id: 'in-tmux' }));
      return `"${process.execPath}" "${BIN}" hook ${name} < "${file}" > /dev/null`;
    };
    const line = `${event('session-start')}; ${event('stop')}; cat; :`;
    const pane = tmux('new-session', '-d', '-P', '-F', '#{pane_id}', '-s', 'work', line);
    tmux('new-window', '-t', 'work', 'cat');
    const attach = `exec tmux -S "${socket}" attach -t work`;
    const client = spawn('script', ['-qec', attach, '/dev/null'], {
      ...options,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = new Promise((done) => client.once('exit', done));
    const shown = (): string => tmux('list-clients', '-F', '#{pane_id}');
    try {
      await until('a client that shows the other window', () => !['', pane].includes(shown()));
      const row = '#waiting-list [data-send*="/api/go"]';
      await goTo('/', row);
      const { sessions } = jsonOf(await run(['sessions', '--json'])) as {
        sessions: { name: string; go: string | null }[];
      };
      const { name } = sessions.find(({ go }) => go !== null)!;
      expect(await race((tab) => tab.locator(row).first().click(), ['go', name])).to.equal(0);
      await agree('#did', (text) => / · shown in tmux, %\d+$/.test(text));
      expect(shown()).to.equal(pane);
    } finally {
      tmux('kill-server');
      client.kill('SIGKILL');
      await ended;
    }
  });
});
