import { expect } from 'chai';

import { StewardError } from '../../../src/lib/errors';
import { privacyState, captureGate, openForWriting, verify } from '../../../src/lib/work/privacy';
import { boardView } from '../../../src/lib/work/board';
import { refresh } from '../../../src/lib/work/poll';
import { setUp } from '../../../src/lib/work/setup';
import { create, newIssue } from '../../../src/lib/work/add';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection } from '../../helpers/errors';
import { readyWorld, workWorld, type WorkWorld } from '../../helpers/work';

const HOUR = 3_600_000;

describe('work: privacy', function () {
  this.timeout(60_000);
  let github: GitHub;
  let world: WorkWorld;
  beforeEach(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }, { name: 'open', private: false }] });
    world = await readyWorld(github);
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });
  const state = (): string => privacyState(world.deps.workRepo(), world.deps.clock.now());
  const publish = (): Promise<unknown> => github.api('PATCH', '/repos/ann/work', { private: false });

  it('refuses a public repository and writes nothing', async () => {
    const fresh = await workWorld(github);
    try {
      const error = await rejection(setUp(fresh.deps, { repo: 'ann/open', create: false }));
      expect([error.kind, error.message]).to.deep.equal([
        'conflict',
        'ann/open is public; work tracking needs a private repository.',
      ]);
      expect(fresh.deps.workRepo().repo).to.equal(undefined);
      expect((await import('node:fs')).existsSync(fresh.at.area.work.root)).to.equal(false);
      expect(github.seen.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
    } finally {
      fresh.remove();
    }
  });

  it('is due after half of the time to live, and expired after all of it', () => {
    const at = (hours: number): string => {
      world.ahead(hours * HOUR);
      return state();
    };
    expect([at(0), at(11.9), at(12.1), at(23.9), at(24.1), at(-2)]).to.deep.equal([
      'fresh', 'fresh', 'due', 'due', 'expired', 'expired',
    ]); // prettier-ignore
  });

  it('turns everything off when the repository becomes public', async () => {
    await publish();
    expect((await rejection(verify(world.deps))).kind).to.equal('conflict');
    expect(state()).to.equal('public');
    github.seen.length = 0;
    expect(await refresh(world.deps)).to.include({ ok: false, stale: true });
    expect((await captureGate(world.deps)).gate).to.equal('drop');
    expect(github.seen, 'nothing is even asked').to.deep.equal([]);
    expect(boardView(world.deps)).to.include({ stale: true, setupRequired: false });
    expect(boardView(world.deps).staleReason).to.match(/is public, so nothing is read or sent/);
  });

  it('checks before each write', async () => {
    expect(state()).to.equal('fresh');
    await publish();
    const error = await rejection(create(world.deps, newIssue({ title: 'secret' })));
    expect(error.message).to.match(/is public; work tracking needs a private repository/);
    expect(github.seen.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
    expect(state()).to.equal('public');
  });

  it('verifies during the poll when due', async () => {
    const before = world.deps.workRepo().privacy.verifiedAt;
    await refresh(world.deps);
    expect(world.deps.workRepo().privacy.verifiedAt).to.equal(before);
    world.ahead(13 * HOUR);
    expect((await refresh(world.deps)).ok).to.equal(true);
    expect(state()).to.equal('fresh');
    world.ahead(26 * HOUR);
    await publish();
    expect(await refresh(world.deps)).to.include({ ok: false });
    expect(state()).to.equal('public');
  });

  it('trusts the last verification during an outage until it expires', async () => {
    github.fault = () => 'reset';
    world.ahead(13 * HOUR);
    expect((await captureGate(world.deps)).gate).to.equal('send');
    world.ahead(25 * HOUR);
    expect((await captureGate(world.deps)).gate).to.equal('spool');
    github.fault = () => undefined;
    expect((await captureGate(world.deps)).gate).to.equal('send');
  });

  it('spools captures for a repository that moved or is no longer visible', async () => {
    for (const status of [301, 401, 403, 404, 410, 451]) {
      github.fault = () => ({ status, body: { message: 'x' } });
      world.ahead(13 * HOUR);
      expect((await captureGate(world.deps)).gate, `${status}, due`).to.equal('send');
      world.ahead(25 * HOUR);
      expect((await captureGate(world.deps)).gate, `${status}, expired`).to.equal('spool');
    }
    // Logged out: nobody can be asked, which says nothing of the repository.
    const host = (): Promise<never> => Promise.reject(new StewardError('auth', 'There is no credential.'));
    const deps = Object.create(world.deps, { host: { value: host } }) as typeof world.deps;
    expect((await captureGate(deps)).gate).to.equal('spool');
  });

  it('detects a different repository of the same name', async () => {
    await world.set('WORK.privacy', { ...world.deps.workRepo().privacy, repoId: 4711 });
    const error = await rejection(openForWriting(world.deps));
    expect(error.message).to.equal('ann/work now refers to a different repository.');
    expect((await captureGate(world.deps)).gate).to.equal('spool');
    // Named by hand: the attestation is of another one.
    await world.set('WORK.repo', 'ann/open');
    expect(state()).to.equal('unverified');
    expect((await captureGate(world.deps)).gate).to.equal('spool');
    expect((await rejection(verify(world.deps))).kind).to.equal('conflict');
  });

  it('can be switched off and on', async () => {
    await world.set('WORK.enabled', false);
    expect([state(), (await captureGate(world.deps)).gate]).to.deep.equal(['off', 'drop']);
    const error = await rejection(create(world.deps, newIssue({ title: 'x' })));
    expect([error.kind, error.hint]).to.deep.equal(['config', 'Run `steward config set WORK.enabled true`.']);
    expect(boardView(world.deps).staleReason).to.match(/is off/);
  });

  it('refuses an archived repository, and one without issues', async () => {
    const repository = {
      id: world.deps.workRepo().privacy.repoId,
      full_name: 'ann/work',
      private: true,
      visibility: 'private',
    };
    for (const [more, words] of [
      [{ archived: true }, /is archived/],
      [{ has_issues: false }, /Issues are disabled/],
      [{ permissions: { push: false } }, /has read-only access/],
    ] as const) {
      github.fault = () => ({ status: 200, body: { ...repository, ...more } });
      expect((await rejection(openForWriting(world.deps))).message).to.match(words);
    }
  });
});
