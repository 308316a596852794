import { expect } from 'chai';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Inbox } from '../../src/lib/inbox/row';
import { parseSession, type Session } from '../../src/lib/sessions/session';
import type { Issue } from '../../src/lib/work/issue';
import { emptyHome, steward, type StewardResult } from '../helpers/cli';
import { seeded, SEED, type Random } from '../helpers/random';

const REPO = 'ann/work';
const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

function sessionOf(at: number, { pick, below }: Random): Session {
  const slug = `20261120-shop-${String(at).padStart(4, '0')}`;
  const tool = pick(['Bash', 'AskUserQuestion', 'ExitPlanMode']);
  const asked = { agent: null, reason: 'permission_prompt', tool, at: ago(below(600)) };
  return parseSession(slug, {
    ...{ sessionIds: [`id-${at}`], startedAt: ago(700), updatedAt: ago(pick([1, 30, 600])), repo: 'shop' },
    ...{ branch: `b${at}`, activity: pick(['waiting', 'working', 'ended']), requests: pick([[], [asked]]) },
    ...pick([{}, { failure: { reason: 'rate_limit', until: null } }, { agentsDoneAt: ago(3) }]),
  }) as Session;
}

function issueOf(number: number, { pick, below }: Random): Issue {
  const [createdAt, url] = [ago(below(9000)), `https://github.com/${REPO}/issues/${number}`];
  return {
    ...{
      number,
      title: `Issue ${number}`,
      url,
      state: pick(['open', 'closed']),
      stateReason: null,
      closedAt: null,
    },
    labels: pick([[], ['Status:needs-human'], ['Status:in-review', 'P1'], ['Type:reminder']]),
    ...{ createdAt, updatedAt: createdAt, identity: null, due: pick([null, ago(5), ago(-500)]) },
  };
}

describe('steward inbox', function () {
  this.timeout(240_000);
  const home = emptyHome();
  after(() => home.remove());
  const run = (...args: string[]): Promise<StewardResult> => steward(args, { home: home.path });
  const inbox = async (): Promise<Inbox> => JSON.parse((await run('inbox', '--json')).stdout) as Inbox;
  const write = (name: string, value: unknown): void => {
    const path = join(home.path, '.steward', name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
  };
  const store = (sessions: readonly Session[], issues: readonly Issue[]): void => {
    const bySlug = Object.fromEntries(sessions.map((session) => [session.slug, session]));
    write('state/sessions.json', { version: 1, cursor: { offset: 0, head: '' }, sessions: bySlug });
    const privacy = {
      verifiedPrivate: true,
      visibility: 'private',
      verifiedAt: ago(1),
      repo: REPO,
      repoId: 1,
    };
    write('work/work_repo.json', { repo: REPO, privacy });
    const empty = { malformed: 0, since: null, fullAt: ago(2), etag: null, labels: null };
    write('work/cache.json', { version: 1, repo: REPO, issues, ...empty });
  };

  it('counts the same as the status line and `status`, in random states', async () => {
    const random = seeded(SEED);
    for (let round = 0; round < 6; round += 1) {
      const sessions = Array.from({ length: random.below(6) }, (_, at) => sessionOf(at, random));
      const issues = Array.from({ length: random.below(9) }, (_, at) => issueOf(at + 1, random));
      store(sessions, issues);
      if (random.chance(0.5)) rmSync(join(home.path, '.steward/state/inbox.json'), { force: true });
      const { rows, count } = await inbox();
      expect(rows, `seed ${SEED}`).to.have.length(count);
      // The first status line computes the figures, the second uses the kept ones.
      for (const line of ['computed', 'kept']) {
        const { stdout } = await run('statusline', '--json');
        expect((JSON.parse(stdout) as { waiting: number }).waiting, `${line}, seed ${SEED}`).to.equal(count);
      }
      const status = (await run('status')).stdout;
      expect(status).to.match(
        count === 0 ? /inbox +ok +empty/ : new RegExp(`inbox +warning +${count} waiting for you`),
      );
      const [row] = rows;
      if (row === undefined) continue;
      const snoozed = await run('inbox', 'snooze', row.id, '2h');
      expect([snoozed.code, snoozed.stderr]).to.deep.equal([0, '']);
      expect((await inbox()).count).to.equal(count - 1);
      const { stdout } = await run('statusline', '--json');
      expect((JSON.parse(stdout) as { waiting: number }).waiting, `snoozed, seed ${SEED}`).to.equal(
        count - 1,
      );
    }
  });

  it('removes only what you decide, says what it waits for, and exits 6 with --check', async () => {
    const random = { ...seeded(1), pick: <T>(list: readonly T[]): T => list[0] as T };
    const turn = { ...sessionOf(1, random), activity: 'waiting' as const };
    store([turn], [{ ...issueOf(7, random), state: 'open', labels: ['Status:needs-human'], due: null }]);
    rmSync(join(home.path, '.steward/state/inbox.json'), { force: true });
    expect((await run('inbox', '--check')).code).to.equal(6);
    const refused = await run('inbox', 'done', '7');
    expect([refused.code, refused.stderr]).to.deep.equal([
      6,
      '#7 (needs you) disappears when that is no longer true.\nRun `steward work open 7`. To hide the row: steward inbox snooze 7 2h\n',
    ]);
    expect((await run('inbox', 'snooze', '7', '90m')).code).to.equal(0);
    const [, more] = (await run('inbox', '--plain')).stdout.split('\n\n');
    expect(more).to.match(
      /^1 snoozed\. To see them: steward inbox --snoozed\. To list one again: steward\s+inbox snooze ROW now\nRead: /,
    );
    expect((await run('inbox', '--snoozed')).stdout).to.match(
      /^#7 +in 1 h 30 m: needs you +\d+ [dhm].* {2}Issue 7\n\n1 snoozed/,
    );
    const notSnoozed = await run('inbox', 'snooze', 'shop b1', 'now');
    expect([notSnoozed.code, notSnoozed.stderr]).to.deep.equal([
      5,
      '"shop b1" is not snoozed.\nRun "steward inbox --snoozed" to list the rows.\n',
    ]);
    const tooLong = await run('inbox', 'snooze', '7', '99999d');
    expect([tooLong.code, tooLong.stderr.split('\n')[0]]).to.deep.equal([
      2,
      'A row can be snoozed for 90 days at most.',
    ]);
    expect((await run('inbox', 'snooze', '7', '3h')).code, 'a row that is snoozed').to.equal(0);
    expect((await run('inbox', 'snooze', '7', 'now')).stdout).to.equal('Listed #7 again.\n');
    expect((await run('inbox', '--snoozed')).stdout).to.match(/^Nothing is snoozed\.\n$/);
    expect((await inbox()).rows.map(({ id }) => id)).to.include('#7');
    expect((await run('inbox', 'done', 'shop b1')).stdout).to.equal('Removed shop·b1.\n');
    expect((await inbox()).rows.map(({ id }) => id)).to.deep.equal(['#7']);
    store([], []);
    const { code, stdout } = await run('inbox', '--check');
    expect([code, stdout.split('\n')[0]]).to.deep.equal([0, 'Nothing waits for you.']);
  });
});
