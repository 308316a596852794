import { expect } from 'chai';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';

import { StewardError } from '../../../src/lib/errors';
import { deadReport } from '../../../src/lib/platform/files/dead-letters';
import {
  drain,
  foreignIntentions,
  leave,
  revive,
  spoolStatus,
  sweep,
  type SpoolDeps,
} from '../../../src/lib/sessions/spool';
import { scratch } from '../../helpers/scratch';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What a person has asked for. */
const ASKED = {
  kind: 'prompt-matched',
  session: 'one',
  slug: null,
  transcript: null,
  capture: { kind: 'reminder', text: 'call Ann', key: 'k' },
} as const;

describe('the spool', () => {
  const folder = scratch();
  let nowMs = Date.parse('2026-11-20T08:00:00Z');
  let deps: SpoolDeps;
  beforeEach(() => {
    deps = {
      clock: { now: () => nowMs, monotonic: () => performance.now() },
      machineId: '0123456789ab',
      area: { spool: folder.path('spool'), machine: folder.path('locks') },
    };
  });
  const reasons = (): string[] => deadReport(`${deps.area.spool}/dead`).reasons.map(({ reason }) => reason);
  const put = (kind: 'turn-ended' | 'session-ended' = 'session-ended'): string => {
    nowMs += 1;
    return leave(deps, { kind, session: 'one', slug: 'a-1', transcript: null }).id;
  };

  it('gives each to its consumer once, in order, and is empty then', async () => {
    const ids = [put(), put(), put()];
    const got: string[] = [];
    const result = await drain(deps, { 'session-ended': ({ id }) => void got.push(id) });
    expect(got).to.deep.equal(ids);
    expect(result).to.deep.equal({ done: 3, failed: 0, later: 0, dead: 0, busy: false });
    expect(spoolStatus(deps.area.spool)).to.deep.equal({
      waiting: 0,
      unreadable: 0,
      dead: 0,
      deadFolder: `${deps.area.spool}/dead`,
      oldest: null,
    });
    expect(await drain(deps, { 'session-ended': () => expect.fail() })).to.include({ done: 0 });
  });

  it('holds ids and paths, and is for its user alone', () => {
    const id = leave(deps, { kind: 'turn-ended', session: 'one', slug: null, transcript: '/t.jsonl' }).id;
    expect(JSON.parse(readFileSync(`${deps.area.spool}/${id}.turn-ended.json`, 'utf8'))).to.deep.equal({
      version: 1,
      id,
      kind: 'turn-ended',
      session: 'one',
      slug: null,
      transcript: '/t.jsonl',
      at: new Date(nowMs).toISOString(),
      machine: '0123456789ab',
      attempts: 0,
    });
  });

  it('lets what nobody does wait', async () => {
    put('turn-ended');
    put();
    expect(await drain(deps, { 'session-ended': () => undefined })).to.include({ done: 1 });
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 1 });
  });

  it('tries again what failed, and gives it up at last', async () => {
    put();
    const attempts: number[] = [];
    const fail = ({ attempts: count }: { attempts: number }): never => {
      attempts.push(count);
      throw new Error('no network');
    };
    for (let turn = 0; turn < 4; turn += 1)
      expect(await drain(deps, { 'session-ended': fail })).to.include({ failed: 1, dead: 0 });
    expect(await drain(deps, { 'session-ended': fail })).to.include({ failed: 0, dead: 1 });
    expect(await drain(deps, { 'session-ended': fail })).to.include({ failed: 0, dead: 0 });
    expect(attempts).to.deep.equal([0, 1, 2, 3, 4]);
    expect(reasons()).to.deep.equal(['no network']);
    expect(spoolStatus(deps.area.spool)).to.deep.equal({
      waiting: 0,
      unreadable: 0,
      dead: 1,
      deadFolder: `${deps.area.spool}/dead`,
      oldest: null,
    });
  });

  it('puts back what was interrupted', async () => {
    put();
    const stop = (): never => {
      throw new StewardError('canceled', 'It was interrupted.');
    };
    const failed = await drain(deps, { 'session-ended': stop }).catch((error: unknown) => error);
    expect(failed).to.have.property('kind', 'canceled');
    expect(
      await drain(deps, { 'session-ended': ({ attempts }) => void expect(attempts).to.equal(0) }),
    ).to.include({ done: 1 });
  });

  it('leaves what another machine has left to it for a day, then gives it up; a retry takes it over', async () => {
    const other = { ...deps, machineId: 'ffffffffffff' };
    leave(other, ASKED);
    nowMs += 23 * HOUR;
    const never = { 'prompt-matched': () => expect.fail() };
    expect(await drain(deps, never)).to.include({ done: 0, failed: 0, dead: 0 });
    expect(foreignIntentions(deps.area.spool, deps.machineId)).to.equal(1);
    nowMs += 2 * HOUR;
    expect(await drain(deps, never)).to.include({ done: 0, failed: 0, dead: 1 });
    expect(reasons()).to.deep.equal([
      'queued by another machine (ffffffffffff), which did not send it within a day',
    ]);
    expect(await revive(deps)).to.equal(1);
    const got: unknown[] = [];
    expect(await drain(deps, { 'prompt-matched': ({ capture }) => void got.push(capture) })).to.include({
      done: 1,
    });
    expect(got).to.deep.equal([ASKED.capture]);
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 0, dead: 0 });
  });

  it('gives up what another machine had claimed', async () => {
    const { id } = leave({ ...deps, machineId: 'ffffffffffff' }, ASKED);
    mkdirSync(`${deps.area.spool}/claimed`);
    const name = `${id}.prompt-matched.json`;
    renameSync(`${deps.area.spool}/${name}`, `${deps.area.spool}/claimed/${name}`);
    nowMs += 25 * HOUR;
    expect(await drain(deps, {})).to.include({ dead: 1 });
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 0, dead: 1 });
  });

  it('does the words that a clock that was ahead has dated, and drops a notice of then', async () => {
    nowMs += 400 * DAY;
    leave(deps, ASKED);
    put('turn-ended');
    nowMs -= 400 * DAY;
    expect(sweep(deps)).to.equal(0);
    expect(
      await drain(deps, { 'prompt-matched': () => undefined, 'turn-ended': () => expect.fail() }),
    ).to.include({ done: 1 });
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 0, dead: 0 });
  });

  it('buries words at their age, also those that nobody has begun', () => {
    leave(deps, ASKED);
    nowMs += 61 * DAY;
    expect(sweep(deps)).to.equal(1);
    expect(reasons()).to.deep.equal(['expired before it was sent']);
  });

  it('gives up what is refused, with the reason', async () => {
    leave(deps, ASKED);
    const refuse = { 'prompt-matched': () => ({ refused: 'the work repository is not private' }) };
    expect(await drain(deps, refuse)).to.include({ dead: 1, done: 0, failed: 0 });
    expect(reasons()).to.deep.equal(['the work repository is not private']);
  });

  it('takes no more words when it is full, and loses none', () => {
    for (let index = 0; index < 1000; index += 1) leave(deps, ASKED);
    const full = (): unknown => leave(deps, ASKED);
    expect(full).to.throw(StewardError, '1000 captures are waiting').with.property('kind', 'unavailable');
    put('turn-ended');
    expect(sweep(deps)).to.equal(0);
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 1001, dead: 0 });
  }).timeout(60_000);

  it('keeps a claimed file that cannot be read', async () => {
    put();
    mkdirSync(`${deps.area.spool}/claimed`);
    writeFileSync(
      `${deps.area.spool}/claimed/20261120T070000000Z-000000000000.prompt-matched.json`,
      '{"torn',
    );
    await drain(deps, {});
    expect(reasons()).to.deep.equal(['the file cannot be read']);
  });

  for (const [what, put] of Object.entries<(path: string) => void>({
    'a folder': (path) => mkdirSync(path),
    'a dangling link': (path) => symlinkSync('nowhere', path),
    'a file that is too large': (path) => writeFileSync(path, ' '.repeat(1025 * 1024)),
    'an empty file': (path) => writeFileSync(path, ''),
  })) {
    it(`goes on beside ${what} with the name of a capture, and counts it`, async () => {
      for (const place of ['', 'claimed/', 'dead/']) {
        mkdirSync(`${deps.area.spool}/${place}`, { recursive: true });
        put(`${deps.area.spool}/${place}20261120T070000000Z-aaaaaaaaaaaa.prompt-matched.json`);
      }
      const { at } = leave(deps, ASKED);
      expect(spoolStatus(deps.area.spool)).to.include({ waiting: 1, unreadable: 2, dead: 1, oldest: at });
      expect(await drain(deps, { 'prompt-matched': fail })).to.include({ failed: 1 });
      expect(await revive(deps)).to.equal(0);
      expect(await drain(deps, { 'prompt-matched': () => undefined })).to.include({ done: 1 });
      expect(spoolStatus(deps.area.spool)).to.deep.include({ waiting: 0, oldest: null });
      nowMs += 61 * DAY;
      leave(deps, ASKED);
      expect(await drain(deps, { 'prompt-matched': () => undefined })).to.include({ done: 1 });
    });
  }

  it('counts nothing of a newer version as unreadable', () => {
    mkdirSync(deps.area.spool);
    writeFileSync(`${deps.area.spool}/20261120T070000000Z-aaaaaaaaaaaa.prompt-matched.json`, '{"version":2}');
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 1, unreadable: 0 });
  });

  it('leaves the work to whoever is at it', async () => {
    put();
    let second: unknown;
    await drain(deps, {
      'session-ended': async () => {
        second = await drain(deps, { 'session-ended': () => expect.fail() });
      },
    });
    expect(second).to.deep.equal({ done: 0, failed: 0, later: 0, dead: 0, busy: true });
  });

  const fail = (): never => {
    throw new Error('no network');
  };

  it('drops at its age what nobody has begun, and never calls it failed; by a clock that was put back, too', () => {
    put('turn-ended');
    put();
    nowMs += HOUR;
    expect(sweep(deps)).to.equal(0);
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 1, dead: 0 });
    nowMs += 7 * DAY;
    expect(sweep(deps)).to.equal(0);
    put();
    nowMs -= 2 * HOUR;
    expect(sweep(deps)).to.equal(0);
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 0, dead: 0 });
    expect(readdirSync(deps.area.spool)).to.deep.equal([]);
  });

  it('buries at its age what was tried and failed', async () => {
    put();
    put('turn-ended');
    expect(await drain(deps, { 'session-ended': fail })).to.include({ failed: 1 });
    nowMs += 8 * DAY;
    expect(sweep(deps)).to.equal(1);
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 0, dead: 1 });
  });

  it('leaves what a newer version has left to it, for as long as any', () => {
    mkdirSync(deps.area.spool);
    const name = '20261120T080000000Z-000000000001.brand-new.json';
    writeFileSync(`${deps.area.spool}/${name}`, '{"version":2}');
    nowMs = Date.parse('2026-11-20T08:00:00Z') + 59 * DAY;
    expect(sweep(deps)).to.equal(0);
    expect(readdirSync(deps.area.spool)).to.deep.equal([name]);
    nowMs += 2 * DAY;
    expect(sweep(deps)).to.equal(1);
    expect(readdirSync(deps.area.spool)).to.deep.equal(['dead']);
  });

  it('keeps what cannot be begun as it was, however often', async () => {
    put();
    for (let time = 0; time < 10; time += 1) {
      const later = {
        'session-ended': ({ attempts }: { attempts: number }) => (attempts === 0 ? 'later' : expect.fail()),
      };
      expect(await drain(deps, later)).to.include({ later: 1, done: 0, failed: 0, dead: 0 });
    }
    expect(await drain(deps, { 'session-ended': () => undefined })).to.include({ done: 1 });
  });

  it('removes what killed hooks were writing, and nothing that is new', () => {
    put();
    writeFileSync(`${deps.area.spool}/.x.json.0123456789ab.tmp`, 'half');
    nowMs = Date.now();
    put();
    sweep(deps);
    expect(readdirSync(deps.area.spool)).to.include('.x.json.0123456789ab.tmp');
    nowMs += 2 * HOUR;
    sweep(deps);
    expect(readdirSync(deps.area.spool)).not.to.include('.x.json.0123456789ab.tmp');
    nowMs = Date.parse('2026-11-20T08:00:00Z');
  });

  it('is bounded in number, the oldest go; what a person has put there stays', () => {
    mkdirSync(deps.area.spool);
    writeFileSync(`${deps.area.spool}/20261120T070000000Z-000000000000.session-ended.json`, 'nonsense');
    writeFileSync(`${deps.area.spool}/README`, 'stays');
    for (let index = 0; index < 1002; index += 1) put();
    expect(sweep(deps)).to.equal(0);
    expect(spoolStatus(deps.area.spool)).to.include({ waiting: 1000, dead: 0 });
    expect(readdirSync(deps.area.spool)).to.include('README');
  }).timeout(60_000);
});
