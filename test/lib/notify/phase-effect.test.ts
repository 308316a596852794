import { expect } from 'chai';
import { existsSync } from 'node:fs';

import { writePhase, type PhaseDeps, tabSequence } from '../../../src/lib/notify/phase';
import { toIso } from '../../../src/lib/platform/time/clock';
import { PHASES } from '../../../src/lib/sessions/phases';
import type { Session } from '../../../src/lib/sessions/session';
import { currentSessions } from '../../../src/lib/sessions/state';
import { appendWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';
import { long } from '../../helpers/long';

const START = Date.parse('2026-11-20T08:00:00Z');
const MINUTE = 60_000;

describe('notify: phases', () => {
  let area: TestArea;
  let deps: PhaseDeps;
  let nowMs: number;
  beforeEach(() => {
    area = testArea();
    nowMs = START;
    deps = {
      tab: true,
      sessions: {
        clock: { now: () => nowMs, monotonic: () => performance.now() },
        machineId: '0123456789ab',
        area: area.area,
        dayOf: () => '2026-11-20',
      },
    };
  });
  afterEach(() => area.remove());

  const say = (session: string, type: WorkEvent['type'] = 'prompt'): void => {
    nowMs += MINUTE;
    const event = { ts: toIso(nowMs), type, session, slug: session, repo: null };
    appendWorkEvent(deps.sessions.area.workEvents, event);
  };
  const write = (phase: string, slug?: string) => writePhase(deps, phase, slug);
  const session = (slug: string): Session => currentSessions(deps.sessions).sessions[slug] as Session;
  const history = (slug: string): string[] =>
    session(slug).phaseHistory.map(({ phase, source }) => `${phase} ${source}`);

  it('are stored with their source, in lower case', async () => {
    say('one');
    nowMs += MINUTE;
    expect(await write('EXECUTE', 'one')).to.deep.equal({
      written: true,
      slug: 'one',
      phase: 'execute',
      tab: false,
    });
    expect(session('one')).to.include({ phase: 'execute', updatedAt: toIso(nowMs) });
    expect(history('one')).to.deep.equal(['native hook', 'execute voice']);
    // A retired spelling is the phase of today; the same from the same source is no news.
    await write('climbing', 'one');
    expect(history('one')).to.deep.equal(['native hook', 'execute voice']);
  });

  it('merge with the session file', async () => {
    say('one');
    await write('execute', 'one');
    area.write('sessions/one/ISA.md', '---\nslug: one\nphase: execute\n---\n');
    say('one');
    expect(history('one')).to.deep.equal(['native hook', 'execute merged']);
    area.write('sessions/one/ISA.md', '---\nslug: one\nphase: verify\n---\n');
    say('one');
    await write('verify', 'one');
    expect(history('one').at(-1)).to.equal('verify merged');
  });

  it('go to the latest unfinished session without a slug', async () => {
    say('one');
    say('two');
    say('three');
    await write('complete', 'three');
    expect(await write('plan')).to.include({ slug: 'two' });
    nowMs += 119 * MINUTE;
    expect(await write('build')).to.include({ slug: 'two' });
    nowMs += 120 * MINUTE;
    expect(await write('build')).to.deep.equal({ written: false, why: 'no session' });
    // Named, a session of any age is found.
    expect(await write('build', 'one')).to.include({ written: true });
  });

  it('write nothing for an unknown session or phase', async () => {
    expect(await write('party', 'one')).to.deep.equal({ written: false, why: 'unknown' });
    expect(existsSync(deps.sessions.area.sessionsState)).to.equal(false);
    for (const slug of ['one', '../etc', '__proto__', 'constructor']) {
      expect(await write('plan', slug), slug).to.deep.equal({ written: false, why: 'no session' });
    }
    expect(await write('plan')).to.deep.equal({ written: false, why: 'no session' });
  });

  long('are all stored when fifty arrive at once', async () => {
    const slugs = Array.from({ length: 50 }, (_, n) => `session-${n}`);
    for (const slug of slugs) say(slug);
    const results = await Promise.all(slugs.map((slug) => write('execute', slug)));
    expect(results.every(({ written }) => written)).to.equal(true);
    for (const slug of slugs) expect(history(slug)).to.deep.equal(['native hook', 'execute voice']);
  }).timeout(120_000);

  it('write only known strings to a terminal', () => {
    for (const { id, label, icon } of PHASES) {
      expect(tabSequence(id, null)).to.equal(`\u001b]0;${icon} ${label}\u0007`);
    }
    expect(tabSequence('execute', { program: 'iTerm.app', kittySocket: null })).to.equal(
      '\u001b]0;▶ Execute\u0007\u001b]6;1;bg;red;brightness;215\u0007\u001b]6;1;bg;green;brightness;175\u0007\u001b]6;1;bg;blue;brightness;95\u0007',
    );
    const kitty = { program: null, kittySocket: 'unix:/tmp/kitty' };
    expect(tabSequence('execute', kitty)).to.equal(
      '\u001b]0;▶ Execute\u0007\u001bP@kitty-cmd{"cmd":"set-tab-color","version":[0,20,0],"no_response":true,"payload":{"self":true,"colors":{"active_bg":14135135,"inactive_bg":14135135}}}\u001b\\',
    );
    expect(tabSequence('execute', { ...kitty, program: 'tmux' })).to.equal('\u001b]0;▶ Execute\u0007');
  });
});
