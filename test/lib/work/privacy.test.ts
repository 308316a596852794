import { expect } from 'chai';

import { StewardError } from '../../../src/lib/errors';
import type { WorkRepoConfig } from '../../../src/lib/config/schema';
import { toIso } from '../../../src/lib/platform/time/clock';
import { failureOf } from '../../../src/lib/work/host/failure';
import {
  captureGate,
  currentPrivacy,
  notSetUp,
  openForWriting,
  privacyState,
  refuseClosed,
  repoOf,
  verify,
} from '../../../src/lib/work/privacy';
import { refusalOf, rejection, thrown } from '../../helpers/errors';
import { issueHost, issueWorld, NINE, REPO, type IssueHost, type IssueWorld } from '../../helpers/issue-host';

const HOUR = 3_600_000;
const MINUTE = 60_000;
type Privacy = WorkRepoConfig['privacy'];

describe('whether work may be sent to the repository', () => {
  const verified: Privacy = {
    ...{ verifiedPrivate: true, visibility: 'private', verifiedAt: toIso(NINE), repo: REPO, repoId: 7 },
  };
  const states: [state: string, what: string, privacy: Privacy, afterMs: number][] = [
    ['fresh', 'just verified', verified, 0],
    ['fresh', 'verified just under 12 hours ago', verified, 12 * HOUR - 1],
    ['due', 'verified 12 hours ago', verified, 12 * HOUR],
    ['due', 'verified just under a day ago', verified, 24 * HOUR - 1],
    ['expired', 'verified a day ago', verified, 24 * HOUR],
    ['fresh', 'verified by a machine whose clock is five minutes ahead', verified, -5 * MINUTE],
    ['expired', 'verified later than that', verified, -5 * MINUTE - 1],
    ['fresh', 'verified under another spelling', { ...verified, repo: 'Ann/Work' }, 0],
    ['fresh', 'verified by a version that stored no name', { ...verified, repo: undefined }, 0],
    ['unverified', 'verified as another repository', { ...verified, repo: 'ann/other' }, 0],
    ['unverified', 'never verified', {} as Privacy, 0],
    ['unverified', 'verified at no known time', { ...verified, verifiedAt: undefined }, 0],
    ['unverified', 'private, but replaced', { ...verified, verifiedPrivate: false }, 0],
    ['public', 'public', { ...verified, verifiedPrivate: false, visibility: 'public' }, 0],
    ['public', 'internal', { ...verified, verifiedPrivate: false, visibility: 'internal' }, 0],
  ];
  for (const [state, what, privacy, afterMs] of states)
    it(`is ${state} if it was ${what}`, () => {
      expect(privacyState({ repo: REPO, enabled: true, privacy }, NINE + afterMs)).to.equal(state);
    });

  it('is setup or off by the settings, whatever was verified', () => {
    expect(privacyState({ repo: undefined, enabled: false, privacy: verified }, NINE)).to.equal('setup');
    expect(privacyState({ repo: REPO, enabled: false, privacy: verified }, NINE)).to.equal('off');
  });
});

describe('the repository of the work', () => {
  let github: IssueHost;
  let world: IssueWorld;
  beforeEach(() => {
    github = issueHost();
    world = issueWorld(github);
  });
  afterEach(() => world.area.remove());

  const change = (more: Partial<WorkRepoConfig>): void => {
    world.config = { ...world.config, ...more };
  };
  const hours = (count: number): void => {
    world.nowMs = NINE + count * HOUR;
  };
  const isDown = (): void => {
    github.before = () => {
      throw new StewardError('unavailable', 'The server is down.', { hint: 'Try again.' });
    };
  };
  const gate = async (): Promise<string> => {
    const { gate: word, error } = await captureGate(world.deps);
    return error === undefined ? word : `${word}: ${error.message}`;
  };

  it('must be set up, and switched on', () => {
    expect(repoOf(world.config)).to.equal(REPO);
    const [off, setup] = [{ enabled: false }, { repo: undefined }].map((more) =>
      thrown(() => repoOf({ ...world.config, ...more })),
    );
    expect([off?.kind, off?.message, off?.hint]).to.deep.equal([
      'config',
      'Work tracking is off (WORK.enabled is false).',
      'Run `steward config set WORK.enabled true`.',
    ]);
    expect([setup?.kind, setup?.message, setup?.hint]).to.deep.equal([
      'config',
      'Work tracking is not set up.',
      'Run `steward work setup OWNER/REPO`. Add --create to create the repository.',
    ]);
    expect(setup?.message).to.equal(notSetUp().message);
  });

  it('has open issues to work on', () => {
    refuseClosed({ number: 1, state: 'open' }, 'Reopen it.');
    const { kind, message, hint } = thrown(() => refuseClosed({ number: 1, state: 'closed' }, 'Reopen it.'));
    expect([kind, message, hint]).to.deep.equal(['conflict', '#1 is closed.', 'Reopen it.']);
  });

  describe('is verified', () => {
    const attested = (more: object = {}) => ({
      ...{ verifiedPrivate: true, visibility: 'private', verifiedAt: toIso(NINE + 13 * HOUR) },
      ...{ repo: REPO, repoId: 7 },
      ...more,
    });
    beforeEach(() => hours(13));

    it('for another 12 hours', async () => {
      expect((await verify(world.deps)).id).to.equal(7);
      expect(world.config.privacy).to.deep.equal(attested());
    });

    it('from an answer that is there already', async () => {
      isDown();
      const found = { ...github.repository, id: 7 };
      expect(await verify(world.deps, found)).to.equal(found);
    });

    it('not if it is public by now', async () => {
      github.repository.visibility = 'public';
      expect(await refusalOf(verify(world.deps))).to.deep.equal([
        'conflict',
        `${REPO} is public; work tracking needs a private repository.`,
        'Make it private, then run `steward work verify`. Nothing is sent until then.',
      ]);
      expect(world.config.privacy).to.deep.equal(attested({ verifiedPrivate: false, visibility: 'public' }));
    });

    it('not if another one has its name by now', async () => {
      github.repository.id = 8;
      expect(await refusalOf(verify(world.deps))).to.deep.equal([
        'conflict',
        `${REPO} now refers to a different repository.`,
        `To use the new repository, run \`steward work setup ${REPO}\`.`,
      ]);
      expect(world.config.privacy).to.deep.equal(attested({ verifiedPrivate: false }));
      expect(currentPrivacy(world.deps)).to.equal('unverified');
    });

    for (const [what, privacy] of [
      ['the first time', {}],
      ['after the settings named another one', { repo: 'ann/other', repoId: 9 }],
      ['after a version that stored no name', { repo: undefined, repoId: 9 }],
      ['after a version that stored no id', { repo: REPO, repoId: undefined }],
    ] as const)
      it(what, async () => {
        change({ privacy: privacy as Privacy });
        await verify(world.deps);
        expect(world.config.privacy).to.deep.equal(attested());
      });
  });

  describe('opens for writing', () => {
    it('without another verification while the last one is fresh', async () => {
      hours(11);
      expect(await openForWriting(world.deps)).to.include({ repo: REPO, host: github.host });
      expect(world.config.privacy.verifiedAt).to.equal(toIso(NINE));
    });

    it('with another verification after 12 hours', async () => {
      hours(12);
      await openForWriting(world.deps);
      expect(world.config.privacy.verifiedAt).to.equal(toIso(NINE + 12 * HOUR));
    });

    it('not if it is public or another one, however fresh the last verification is', async () => {
      github.repository.id = 8;
      expect((await refusalOf(openForWriting(world.deps)))[1]).to.match(/a different repository/);
      change({ privacy: { ...world.config.privacy, verifiedPrivate: true } });
      Object.assign(github.repository, { id: 7, visibility: 'public' });
      expect((await refusalOf(openForWriting(world.deps)))[1]).to.match(/is public/);
      expect(currentPrivacy(world.deps)).to.equal('public');
    });

    for (const [more, ...words] of [
      [
        { archived: true },
        'conflict',
        `${REPO} is archived and read-only.`,
        'Unarchive it, or set up another repository.',
      ],
      [
        { hasIssues: false },
        'conflict',
        `Issues are disabled in ${REPO}.`,
        'Enable issues in the repository settings.',
      ],
      [
        { canWrite: false },
        'auth',
        `The credential has read-only access to ${REPO}.`,
        'Grant the credential write access to issues.',
      ],
    ] as const)
      it(`not with ${JSON.stringify(more)}`, async () => {
        Object.assign(github.repository, more);
        expect(await refusalOf(openForWriting(world.deps))).to.deep.equal(words);
      });

    it('not with a credential that may only read, which counts as forbidden', async () => {
      Object.assign(github.repository, { canWrite: false });
      const failure = failureOf(await rejection(openForWriting(world.deps)));
      expect(failure).to.deep.equal({ reason: 'forbidden', status: null, retryAfterSec: null });
      Object.assign(github.repository, { canWrite: null });
      expect((await openForWriting(world.deps)).repo).to.equal(REPO);
    });
  });

  describe('gets a capture', () => {
    it('at once while the verification is fresh, without a request', async () => {
      isDown();
      expect(await gate()).to.equal('send');
    });

    it('never if there is none, or it is off or public', async () => {
      for (const more of [
        { repo: undefined },
        { enabled: false },
        { privacy: { ...world.config.privacy, verifiedPrivate: false, visibility: 'public' } },
      ]) {
        const before = world.config;
        change(more);
        expect(await gate(), JSON.stringify(more)).to.equal('drop');
        world.config = before;
      }
    });

    it('once somebody has verified it', async () => {
      change({ privacy: {} as Privacy });
      expect(await gate()).to.equal('spool');
      expect(world.config.privacy).to.deep.equal({});
    });

    for (const [count, what, word] of [
      [12, 'due', 'send'],
      [24, 'expired', 'spool: The server is down.'],
    ] as const) {
      it(`after another verification if it is ${what}`, async () => {
        hours(count);
        expect(await gate()).to.equal('send');
        expect(currentPrivacy(world.deps)).to.equal('fresh');
      });

      it(`not if it is ${what} and public by now`, async () => {
        hours(count);
        github.repository.visibility = 'public';
        expect(await gate()).to.equal('drop');
      });

      it(`later if it is ${what} and another one by now`, async () => {
        hours(count);
        github.repository.id = 8;
        expect(await gate()).to.equal('spool');
      });

      it(`${word === 'send' ? 'at once' : 'later'} if it is ${what} and the server is down`, async () => {
        hours(count);
        isDown();
        expect(await gate()).to.equal(word);
      });
    }
  });
});
