import { expect } from 'chai';
import { mkdirSync } from 'node:fs';

import { leave, spoolStatus } from '../../../../src/lib/sessions/spool';
import { drainCaptures } from '../../../../src/lib/work/capture/deliver';
import type { SessionRules } from '../../../../src/lib/work/capture/session';
import { captureKey, currentKey, recordKey, capturedKeysPath } from '../../../../src/lib/work/capture/keys';
import { undo, undoable, type Undone } from '../../../../src/lib/work/capture/undo';
import { toIso } from '../../../../src/lib/platform/time/clock';
import { startGitHub, type GitHub } from '../../../helpers/github';
import { rejection } from '../../../helpers/errors';
import { captureOf, readyWorld, type WorkWorld } from '../../../helpers/work';
import { issuesOf } from '../../../helpers/work-kill';

describe('work undo', function () {
  this.timeout(60_000);
  let github: GitHub;
  let world: WorkWorld;
  let deps: SessionRules;
  let prompts: number;
  beforeEach(async () => {
    github = await startGitHub();
    world = await readyWorld(github);
    prompts = 0;
    const { area } = world.at;
    mkdirSync(area.state, { recursive: true });
    const { work, ...rest } = captureOf(world);
    // Nobody says two things within a millisecond.
    const clock = { ...work.clock, now: () => work.clock.now() + prompts };
    deps = { ...rest, work: { ...work, clock } };
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  /** As the hook does it. */
  const say = (...texts: string[]): void => {
    prompts += 1;
    const at = toIso(deps.work.clock.now());
    for (const text of texts) {
      const key = currentKey(capturedKeysPath(world.at.area), captureKey('s', 'reminder', text));
      const capture = { kind: 'reminder', text, key };
      leave(deps.work, {
        kind: 'prompt-matched',
        session: 's',
        slug: null,
        transcript: null,
        capture,
      });
      recordKey(capturedKeysPath(world.at.area), key, at);
    }
  };
  const send = () => drainCaptures(deps);
  const back = (last = 1): Promise<Undone[]> => undo(deps.work, undoable(deps.work, last));
  const results = (undone: readonly Undone[]): string[] => undone.map(({ result }) => result);
  const states = async (): Promise<string[]> =>
    (await issuesOf(github, 'ann/work')).map(({ title }) => title).sort();
  const open = async (): Promise<number> =>
    ((await github.api('GET', '/repos/ann/work/issues?state=open')) as unknown[]).length;

  it('withdraws a waiting capture without a request', async () => {
    say('call Ann', 'call Ben');
    say('call Cid');
    expect(undoable(deps.work, 1).map(({ text }) => text)).to.deep.equal(['reminder: call Cid']);
    expect(results(await back())).to.deep.equal(['withdrawn']);
    expect(results(await back())).to.deep.equal(['withdrawn', 'withdrawn']);
    expect(await back()).to.deep.equal([]);
    await send();
    expect([github.seen.length, spoolStatus(world.at.area.spool).waiting]).to.deep.equal([0, 0]);
  });

  it('closes a created issue as not planned, with one comment', async () => {
    say('call Ann');
    say('call Ben');
    await send();
    expect(undoable(deps.work, 1)[0]).to.include({ text: 'call Ben', number: 2 });
    github.fault = ({ method }) => (method === 'PATCH' ? { status: 422 } : undefined);
    await rejection(back());
    github.fault = () => undefined;
    expect(results(await back())).to.deep.equal(['closed']);
    const two = (await github.api('GET', '/repos/ann/work/issues/2')) as Record<string, unknown>;
    expect(two).to.include({ state: 'closed', state_reason: 'not_planned', comments: 1 });
    expect(await open()).to.equal(1);
    await github.api('PATCH', '/repos/ann/work/issues/1', { state: 'closed', state_reason: 'completed' });
    expect(results(await back())).to.deep.equal(['was closed']);
  });

  it('captures the same words again as another issue', async () => {
    for (let time = 1; time <= 3; time += 1) {
      say('call Ann');
      await send();
      expect(await open(), `time ${time}`).to.equal(1);
      expect(results(await back())).to.deep.equal(['closed']);
    }
    expect(await states()).to.have.length(3);
  });

  it('finds and closes an issue whose response was lost', async () => {
    say('call Ann');
    let lost = false;
    github.fault = ({ method, path }) => {
      if (lost && path.includes('/issues?')) return 'reset';
      lost ||= method === 'POST' && path.endsWith('/issues');
      return lost ? 'drop' : undefined;
    };
    await send();
    github.fault = () => undefined;
    expect(await open()).to.equal(1);
    expect(undoable(deps.work, 1)[0]).to.include({ number: null });
    expect(results(await back())).to.deep.equal(['closed']);
    await send();
    expect([await open(), (await states()).length]).to.deep.equal([0, 1]);
  });

  it('keeps a created issue undoable while offline', async () => {
    say('call Ann');
    await send();
    github.fault = () => 'reset';
    expect((await rejection(back())).kind).to.equal('unavailable');
    github.fault = () => undefined;
    expect(results(await back())).to.deep.equal(['closed']);
  });
});
