import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { labelOf, namesOf, requestWords, activityOf } from '../../../src/lib/sessions/describe';
import { findSession, liveSessions, matchingSessions } from '../../../src/lib/sessions/find';
import { addNames, giveName, keepTitle, pruneNames } from '../../../src/lib/sessions/names';
import { parseSession, type Session } from '../../../src/lib/sessions/session';
import { redact } from '../../../src/lib/work/outgoing';
import { testArea, type TestArea } from '../../helpers/area';

const AT = '2026-11-20T09:00:00.000Z';

function session(slug: string, more: Partial<Session> = {}): Session {
  const stored = { sessionIds: [`id-${slug}`], startedAt: AT, updatedAt: AT, repo: 'shop', ...more };
  return parseSession(slug, stored) as Session;
}

describe('the names of sessions', () => {
  let area: TestArea;
  let folder: string;
  beforeEach(() => {
    area = testArea();
    folder = join(area.area.machine, 'session-names');
  });
  afterEach(() => area.remove());

  it('are repository and branch, the worktree of a detached HEAD, or a given name', () => {
    expect(labelOf(session('a', { branch: 'login' }))).to.equal('shop·login');
    expect(labelOf(session('a', { branch: null, worktree: 'hotfix' }))).to.equal('shop·hotfix');
    expect(labelOf(session('a'))).to.equal('shop');
    expect(labelOf(session('a', { repo: null }))).to.equal(null);
    const given = session('a', { branch: 'login' });
    expect(giveName(folder, given, ' Login\nrewrite ')).to.equal('Login rewrite');
    addNames(folder, [given]);
    expect(labelOf(given)).to.equal('Login rewrite');
    expect(giveName(folder, given, '')).to.equal(null);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('tell sessions of one checkout apart', () => {
    const names = namesOf([session('20261120-shop-0001', { branch: 'x' }), session('20261120-shop-0002', { branch: 'x' }), session('b', { branch: 'y' })]); // prettier-ignore
    expect([...names.values()]).to.deep.equal(['shop·x (0001)', 'shop·x (0002)', 'shop·y']);
  });

  it('keep of prompts the first line of the first one, without credentials, on this machine', () => {
    keepTitle(folder, 'id-a', `\n  Fix the login with token: hunter2 ${'x'.repeat(100)}\nSECRET`, redact);
    keepTitle(folder, 'id-a', 'Another prompt', redact);
    const one = session('a');
    addNames(folder, [one]);
    expect(one.title).to.match(/^Fix the login with token: \[redacted\] x+…$/);
    expect(one.title?.length).to.equal(80);
    const stored = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(stored.join()).not.to.match(/SECRET|hunter2|Another/);
    pruneNames(folder, Date.now() + 61 * 86_400_000);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('are found by any part, case aside, running sessions first', () => {
    const all = [
      session('20261120-shop-0001', { branch: 'feature/login', activity: 'working' }),
      session('20261120-shop-0002', { branch: 'main', worktree: 'Shop-2', activity: 'ended' }),
      session('20261120-infra-0003', { branch: 'main', repo: 'infra' }),
    ];
    const found = (text: string): string[] => matchingSessions(all, text).map(({ slug }) => slug.slice(-4));
    expect(found('shop')).to.deep.equal(['0001', '0002']);
    expect(found('LOGIN')).to.deep.equal(['0001']);
    expect(found('shop main')).to.deep.equal(['0002']);
    expect(found('shop·main')).to.deep.equal(['0002']);
    expect(found('shop-2')).to.deep.equal(['0002']);
    expect(found('infra·main')).to.deep.equal(['0003']);
    expect([found(' '), found('nothing')]).to.deep.equal([[], []]);
    const state = {
      version: 1,
      cursor: { offset: 0, head: '' },
      sessions: Object.fromEntries(all.map((one) => [one.slug, one])),
    };
    expect(findSession(state, 'shop', Date.parse(AT)).slug).to.equal('20261120-shop-0001');
    expect(() => findSession(state, 'main', Date.parse(AT) + 13 * 3_600_000)).to.throw(
      '"main" matches 2 sessions.',
    );
  });

  describe('in a list', () => {
    const now = Date.parse(AT);
    const slugs = Array.from({ length: 12 }, (_, at) => `20261120-shop-${9001 + at}`);
    const state = {
      version: 1,
      cursor: { offset: 0, head: '' },
      sessions: Object.fromEntries(slugs.map((slug) => [slug, session(slug, { branch: 'main' })])),
    };
    const live = liveSessions(state, now);

    it('find the session again', () => {
      for (const [slug, name] of namesOf(live))
        expect(findSession(state, name, now).slug, name).to.equal(slug);
    });

    it('have a number, which never matches the digits of a slug', () => {
      const second = live[1] as Session;
      expect(findSession(state, '2', now).slug).to.equal(second.slug);
      for (const number of ['0', '13', '20261120', '9001']) {
        const message = `Session ${number} not found.`;
        expect(() => findSession(state, number, now))
          .to.throw(message)
          .with.property('kind', 'not_found');
      }
    });

    it('are listed if a text is ambiguous, with the number of further ones', () => {
      const lines = slugs.slice(0, 10).map((slug) => `${slug}  shop·main (${slug.slice(-4)})`);
      expect(() => findSession(state, 'shop', now))
        .to.throw('"shop" matches 12 sessions.')
        .with.property('hint', [...lines, '2 more: steward sessions --all'].join('\n'));
    });
  });

  it('come with what a session does and asks for', () => {
    const does = (tool?: string): string | null =>
      activityOf({ ...session('a', { activity: 'working' }), ...(tool === undefined ? {} : { tool }) }, Date.parse(AT)); // prettier-ignore
    expect(does()).to.equal('thinking');
    expect(['Edit', 'Bash', 'Grep', 'mcp__github__create_issue'].map(does)).to.deep.equal([
      'editing',
      'running a command',
      'searching',
      'using github create_issue',
    ]);
    // As Codex, Qwen Code, Copilot and Cursor call them.
    expect(['apply_patch', 'run_shell_command', 'view', 'Shell'].map(does)).to.deep.equal([
      'editing',
      'running a command',
      'reading',
      'running a command',
    ]);
    expect(activityOf(session('a'), Date.parse(AT))).to.equal(null);
    expect(requestWords('permission_prompt', 'Bash')).to.equal('asks to run Bash');
    expect(requestWords('permission_prompt', 'AskUserQuestion')).to.equal('asks you a question');
    expect(requestWords('permission_prompt', undefined)).to.equal('asks for permission');
    expect(requestWords(undefined, undefined)).to.equal(null);
  });
});
