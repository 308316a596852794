import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { ErrorBody } from '../../src/lib/errors';
import { cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { converse, type Turn } from '../helpers/on-terminal';
import { startGitHub, type GitHub } from '../helpers/github';
import { requirePrograms, requireTerminal } from '../helpers/real-part';

interface Card {
  number: number;
  title: string;
  lane: string;
  labels: string[];
  status: string;
}
interface Board {
  columns: Record<string, number[]>;
  items: Card[];
  stale: boolean;
  staleReason: string | null;
  setupRequired: boolean;
}

describe('work (built)', function () {
  this.timeout(180_000);
  let github: GitHub;
  let home: { path: string; remove: () => void };
  /** An address where nobody listens, and which no test can take. fetch itself refuses port 9. */
  const nobodyAt = 'http://127.0.0.1:2';
  beforeEach(async () => {
    home = emptyHome();
    github = await startGitHub({
      repos: [{ name: 'work' }, { name: 'open', private: false }],
      labels: true,
    });
  });
  afterEach(async () => {
    home.remove();
    await github.close();
  });

  const env = (): Record<string, string> => ({ GITHUB_API_URL: github.url, GH_TOKEN: github.token });
  const run = (
    args: readonly string[],
    more: Record<string, string | undefined> = {},
  ): Promise<StewardResult> => steward(['work', ...args], { home: home.path, env: { ...env(), ...more } });
  const good = async (...args: string[]): Promise<unknown> => {
    const result = await run([...args, '--json']);
    expect(result.code, `${args.join(' ')}: ${result.stderr}`).to.equal(0);
    return jsonOf(result);
  };
  const bad = async (args: readonly string[], code: number, more: Record<string, string | undefined> = {}): Promise<ErrorBody['error']> => {
    const result = await run([...args, '--json'], more);
    expect([result.code, result.stdout], `${args.join(' ')}: ${result.stderr}`).to.deep.equal([code, '']);
    const { error } = JSON.parse(result.stderr) as ErrorBody;
    expect(error.hint ?? '').not.to.equal('');
    return error;
  }; // prettier-ignore

  it('claims under your GitHub login if you have no name', async () => {
    await good('setup', 'ann/work');
    await good('add', 'Fix the login', '--status', 'ready');
    expect(await good('claim', '1')).to.include({ agent: 'ann' });
  });

  it('goes from an empty home to a closed issue', async () => {
    const before = (await good('board')) as Board;
    expect(before).to.deep.include({ setupRequired: true, items: [] });
    expect((await run(['board'])).stdout).to.match(
      /is not set up[\s\S]*steward work setup OWNER\/REPO --create/,
    );
    expect(await good('status')).to.deep.include({ setupRequired: true });
    expect(await good('ready')).to.deep.equal([]);
    for (const args of [
      ['add', 'x'],
      ['show', '1'],
      ['claim', '1', '--agent', 'kai'],
      ['close', '1', '--evidence', 'x'],
      ['tasks', 'regenerate'],
      ['labels', 'seed'],
      ['verify'],
    ])
      // prettier-ignore
      expect((await bad(args, 3)).message).to.equal('Work tracking is not set up.');
    expect((await bad(['setup', 'ann/open'], 6)).message).to.match(/ann\/open is public/);
    expect((await bad(['setup', 'ann/none'], 5)).hint).to.match(/--create/);

    expect(await good('setup', 'ann/work')).to.deep.include({ repo: 'ann/work', created: false, issues: 0 });
    expect(readFileSync(join(home.path, '.steward', 'work', 'work_repo.json'), 'utf8')).to.match(
      /"verifiedPrivate": true/,
    );
    expect(await good('verify')).to.deep.include({ repo: 'ann/work', state: 'fresh', visibility: 'private' });
    const added = (await good('add', 'Fix the login', '--status', 'ready', '--priority', 'P1')) as Card;
    expect(added.labels).to.have.members(['Type:feature', 'Status:ready', 'Priority:P1']);
    expect(((await good('remind', 'call Ann tomorrow at 9')) as Card).title).to.equal('[Reminder] call Ann');
    expect(((await good('ready')) as Card[]).map(({ number }) => number)).to.deep.equal([1]);
    expect(await good('claim', '#1', '--agent', 'kai')).to.deep.include({
      number: 1,
      agent: 'kai',
      already: false,
    });
    expect((await bad(['claim', '1', '--agent', 'bo'], 6)).message).to.equal('#1 is claimed by kai.');
    const board = (await good('board', '--refresh')) as Board;
    expect(board.columns).to.deep.include({ 'In-Progress': [1], Queued: [2] });
    const text = await run(['board']);
    expect(text.stdout).to.match(/In-Progress 1\n {2}1 {2}P1 {2}Fix the login +kai/);
    expect(Math.max(...text.stdout.split('\n').map((line) => line.length))).to.be.at.most(80);
    const list = (await good('list', '--agent', 'KAI')) as Board;
    expect(list.items.map(({ number }) => number)).to.deep.equal([1]);
    expect(await good('tasks', 'regenerate')).to.deep.include({ changed: true, committed: false });
    const closed = (await good('close', '1', '--evidence', 'Fixed in 3f2a91c')) as Card;
    expect(closed).to.include({ lane: 'Complete' });
    const shown = (await run(['show', '1'])).stdout;
    expect(shown)
      .to.match(/^#1 Fix the login/)
      .and.to.include('Fixed in 3f2a91c');
    expect(await good('status')).to.deep.include({ issues: { open: 1, closed: 1 }, unfinished: 0 });
  });

  it('edits, starts, blocks and opens an issue, and keeps its markers', async () => {
    await good('setup', 'ann/work');
    await steward(['config', 'set', 'principal.name', 'Ann Lee'], { home: home.path });
    await good('labels', 'seed');
    await good('remind', 'call Ann', '--at', 'tomorrow 9am');
    const before = (await good('show', '1')) as { body: string; due: string };
    const edited = (await good('edit', '1', '--title', 'call Ann Lee', '--body', 'About the lease', '--add-label', 'priority:p1', '--remove-label', 'status:queued')) as Card & { due: string }; // prettier-ignore
    expect(edited).to.include({ title: '[Reminder] call Ann Lee', due: before.due });
    expect(edited.labels).to.have.members(['Type:reminder', 'Priority:P1']);
    const marker = before.body.slice(before.body.indexOf('<!--'));
    expect(((await good('show', '1')) as { body: string }).body).to.equal(`About the lease\n\n${marker}`);
    expect((await bad(['edit', '1', '--add-label', 'nope'], 5)).message).to.equal(
      'ann/work has no label nope.',
    );
    await good('add', 'Fix the login', '--status', 'ready');
    expect(await good('start', '2')).to.include({ status: 'in-progress', lane: 'In-Progress' });
    expect(await good('block', '2', '--reason', 'Waiting for the key')).to.include({ status: 'blocked' });
    await good('block', '2', '--reason', 'Waiting for the key');
    const shown = (await good('show', '2')) as {
      comments: { body: string }[];
      labels: string[];
      url: string;
    };
    expect(shown.comments.map(({ body }) => body)).to.deep.equal(['Blocked: Waiting for the key']);
    expect(shown.labels).to.include('Status:blocked').and.not.include('Status:in-progress');
    expect((await run(['open', '2', '--print'])).stdout).to.equal(`${shown.url}\n`);
    await good('edit', '2', '--remove-label', 'Status:blocked', '--add-label', 'Status:queued');
    expect(await good('claim', '2')).to.include({ agent: 'ann-lee' });
    await good('close', '2', '--evidence', 'x');
    expect((await bad(['start', '2'], 6)).message).to.equal('#2 is closed.');
    expect((await bad(['open', '99', '--print'], 5)).message).to.include('#99');
  });

  it('explains that a reminder without a time will not notify, and how to set one', async () => {
    await good('setup', 'ann/work');
    const none = await run(['remind', 'buy milk']);
    expect(none.code).to.equal(0);
    expect(none.stderr).to.match(/^No time found, .*: steward work snooze 1 "tomorrow 9am"$/m);
    expect(((await good('snooze', '1', 'tomorrow 9am')) as Card).number).to.equal(1);
    expect((await run(['remind', 'call Ann tomorrow at 9'])).stderr).not.to.include('No time found');
  });

  it('refuses invalid input with its exit code, and says what to do', async () => {
    await good('setup', 'ann/work');
    await bad(['claim', 'x', '--agent', 'kai'], 2);
    await bad(['edit', '1'], 2);
    await bad(['show', '99'], 5);
    await bad(['add', ' '], 2);
    await bad(['remind', 'x', '--at', 'banana'], 2);
    await bad(['remind', 'look back yesterday'], 2);
    await bad(['list', '--state', 'odd'], 2);
    expect((await bad(['list', '--lane', 'Doing'], 2)).hint).to.equal(
      'Use Queued, Blocked, In-Progress, In-Review, Complete.',
    );
    expect(await bad(['list', '--status', 'bogus'], 2)).to.include({
      message: 'Unknown Status "bogus".',
      hint: 'Use queued, needs-triage, ready, in-progress, in-review, blocked, needs-human, done.',
    });
    expect((await bad(['list', '--type', 'bogus'], 2)).hint).to.match(/^Use feature, bug, .*idea/);
    await bad(['list', '--priority', 'P9'], 2);
    // Nobody serves git here: it asks for a credential.
    expect((await bad(['tasks', 'regenerate', '--commit-push'], 4)).hint).to.match(
      /^The local file is up to date/,
    );
    expect((await bad(['add', 'x'], 4, { GH_TOKEN: 'not_a_good_one' })).message).to.match(
      /rejected the credential from GH_TOKEN/,
    );
    expect((await bad(['add', 'x'], 3, { GITHUB_API_URL: 'http://example.org' })).message).to.match(
      /GITHUB_API_URL/,
    );
    expect((await bad(['edit', '1', '--title', 'x'], 8, { GITHUB_API_URL: nobodyAt })).message).to.match(
      /refused the connection/,
    );
    const path = join(home.path, '.steward', 'work', 'config.yaml');
    writeFileSync(path, 'KANBAN_COLUMNS: [Queued, Doing]\n');
    expect((await bad(['board'], 3)).message).to.match(
      /work\/config\.yaml: KANBAN_COLUMNS\[?1?\]?: expected a list of lanes/,
    );
  });

  it('shows the cached board as stale without a network or a credential, and refuses writes', async () => {
    await good('setup', 'ann/work');
    await good('add', 'Kept');
    const away = { GITHUB_API_URL: nobodyAt };
    const offline = jsonOf(await run(['board', '--refresh', '--json'], away)) as Board;
    expect(offline).to.deep.include({ stale: true });
    expect(offline.items.map(({ title }) => title)).to.deep.equal(['Kept']);
    expect(offline.staleReason).to.match(/refused the connection/);
    const nobody = jsonOf(
      await run(['list', '--refresh', '--json'], { GH_TOKEN: undefined, PATH: '/nowhere' }),
    ) as Board;
    expect(nobody.staleReason).to.match(/No credential found for 127\.0\.0\.1.*gh auth login/);
    await bad(['claim', '1', '--agent', 'kai'], 8, away);
    const shown = await run(['show', '1'], away);
    expect(shown.code).to.equal(0);
    expect(shown.stdout).to.match(/Cached copy, without the description or comments/);
  });

  it('ends on Ctrl-C during a slow request, even while a terminal shows the steps', async function () {
    requireTerminal(this);
    github.fault = () => 'hang';
    const turns: Turn[] = [['Checking ann/work', '\x03']];
    const setup = await converse(['work', 'setup', 'ann/work'], turns, { home: home.path, env: env() });
    expect([setup.missed, setup.code]).to.deep.equal([[], 130]);
    // The cursor is shown again.
    expect(setup.text).to.match(/\x1b\[\?25h[^l]*$/);
    github.fault = () => undefined;
    expect(await good('setup', 'ann/work')).to.deep.include({ repo: 'ann/work' });
  });

  it('prints no escape sequence from a title on the terminal', async () => {
    await good('setup', 'ann/work');
    await github.api('POST', '/repos/ann/work/issues', {
      title: 'evil \u001b]0;title\u0007\u001b[31mred\u202e',
      body: 'a\u001b[2Jb',
      labels: ['Agent:\u001b[31mx', 'Status:ready'],
    });
    for (const args of [['board', '--refresh'], ['list'], ['ready'], ['show', '1']]) {
      const { stdout } = await run(args);
      expect(stdout, args.join(' '))
        .to.include('evil')
        .and.not.to.match(/[\u001b\u0007\u202e]/);
    }
    const narrow = await run(['board'], { COLUMNS: '20' });
    expect(narrow.code).to.equal(0);
  });

  describe('with the real gh', () => {
    let folder: string;
    before(function () {
      requirePrograms(this, { gh: 'gh' });
    });
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'steward-gh-'));
      mkdirSync(join(folder, 'config'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    const gh = async (...args: string[]): Promise<unknown> => JSON.parse(await ghText(...args)) as unknown;
    const ghText = async (...args: string[]): Promise<string> => {
      const { stdout } = await promisify(execFile)('gh', args, {
        env: cleanEnv(home.path, { GH_CONFIG_DIR: join(folder, 'config'), GH_NO_UPDATE_NOTIFIER: '1' }),
        encoding: 'utf8',
      });
      return stdout;
    };

    it("uses gh's credential for this host, prints the created issue, and gh reads it back", async () => {
      const socket = join(folder, 'socket');
      await github.listenOn(socket);
      const config = join(folder, 'config');
      writeFileSync(join(config, 'config.yml'), `http_unix_socket: ${socket}\n`);
      writeFileSync(
        join(config, 'hosts.yml'),
        ['127.0.0.1', 'github.com']
          .map((name) => `${name}:\n    user: ann\n    oauth_token: ${github.token}\n`)
          .join(''),
        { mode: 0o600 },
      );
      const own = { GH_TOKEN: undefined, GH_CONFIG_DIR: config };
      const json = async (...args: string[]): Promise<unknown> => {
        const result = await run([...args, '--json'], own);
        expect(result.code, result.stderr).to.equal(0);
        return jsonOf(result);
      };
      await json('setup', 'ann/work');
      await gh('api', 'repos/ann/work/issues', '-f', 'title=Made by gh', '-f', 'labels[]=wip');
      const board = (await json('board', '--refresh')) as Board;
      expect(board.items.map(({ title, lane }) => [title, lane])).to.deep.equal([
        ['Made by gh', 'In-Progress'],
      ]);
      const page = await ghText(
        ...['issue', 'create', '-R', 'ann/work', '-t', 'By issue create', '-b', 'Look into it'],
        ...['-l', 'Status:blocked', '-l', 'Priority:P1'],
      );
      expect(page).to.match(/\/ann\/work\/issues\/2\n$/);
      const again = (await json('board', '--refresh')) as Board;
      expect(again.items.map(({ title, lane }) => [title, lane])[1]).to.deep.equal([
        'By issue create',
        'Blocked',
      ]);
      expect((await run(['show', '2'], own)).stdout).to.include('Look into it');
      const { number } = (await json('add', 'Made by steward', '--status', 'ready')) as Card;
      await json('claim', String(number), '--agent', 'kai');
      const read = (await gh('api', `repos/ann/work/issues/${number}`)) as {
        title: string;
        body: string;
        labels: { name: string }[];
      };
      expect(read.title).to.equal('Made by steward');
      expect(read.body).to.match(/^<!-- steward id=[0-9a-f]{16} -->$/);
      expect(read.labels.map(({ name }) => name)).to.have.members([
        'Type:feature',
        'Status:in-progress',
        'Agent:kai',
      ]);
      const fields = 'number,title,body,state,labels';
      const viewed = (await gh(
        'issue',
        'view',
        String(number),
        '-R',
        'ann/work',
        '--json',
        fields,
      )) as object;
      expect(viewed).to.deep.include({ number, title: read.title, body: read.body, state: 'OPEN' });
      expect((viewed as typeof read).labels.map(({ name }) => name)).to.have.members(
        read.labels.map(({ name }) => name),
      );
      // A host that it keeps nothing for gets nothing.
      const other = await run(['board', '--refresh', '--json'], {
        ...own,
        GITHUB_API_URL: github.url.replace('127.0.0.1', 'localhost'),
      });
      expect((jsonOf(other) as Board).staleReason).to.match(/No credential found for localhost/);
    });
  });
});
