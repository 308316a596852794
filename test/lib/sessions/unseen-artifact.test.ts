import { expect } from 'chai';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';

import { toIso } from '../../../src/lib/platform/time/clock';
import { folder as folding } from '../../../src/lib/sessions/fold';
import { emptySessions, type Session, type SessionsState } from '../../../src/lib/sessions/session';
import { unseenArtifact } from '../../../src/lib/sessions/unseen-artifact';
import type { WorkEvent } from '../../../src/lib/sessions/work-events';
import { scratch } from '../../helpers/scratch';

const START = Date.parse('2026-11-20T08:00:00Z');
const MINUTE = 60_000;

describe('an artifact that no tool has named', () => {
  const folder = scratch();
  let state: SessionsState;
  beforeEach(() => {
    state = emptySessions();
    mkdirSync(folder.path('sessions'));
  });

  const say = (minute: number, type: WorkEvent['type'], session = 'one'): void => {
    const event = {
      ts: toIso(START + minute * MINUTE),
      type,
      session,
      slug: `slug-of-${session}`,
      repo: null,
    };
    folding(state, { dayOf: () => '2026-11-20' }).take(event);
  };
  const write = (slug: string, minute: number, text = '---\ntask: Fix\nphase: build\n---\n'): void => {
    mkdirSync(folder.path('sessions', slug), { recursive: true });
    const path = folder.path('sessions', slug, 'ISA.md');
    writeFileSync(path, text);
    const seconds = (START + minute * MINUTE) / 1000;
    utimesSync(path, seconds, seconds);
  };
  const find = (session = 'one'): string | undefined => {
    const own = state.sessions[`slug-of-${session}`] as Session;
    const isKnown = (slug: string): boolean => Object.hasOwn(state.sessions, slug);
    return unseenArtifact({ sessions: folder.path('sessions') }, state, own, isKnown)?.slug;
  };
  const turn = (): void => {
    say(0, 'session-start');
    say(10, 'prompt');
    say(20, 'stop');
  };

  it('is found when it was written in the turn', () => {
    turn();
    expect(find()).to.equal(undefined);
    write('before', 9);
    expect(find()).to.equal(undefined);
    write('fix-login', 15);
    expect(find()).to.equal('fix-login');
  });

  it('is nothing without front matter, behind a link, or in a folder of another name', function () {
    turn();
    write('no-front-matter', 15, '# Fix\n');
    write('Not_A_Slug', 15);
    if (process.platform !== 'win32') {
      mkdirSync(folder.path('private'));
      writeFileSync(folder.path('private', 'ISA.md'), '---\ntask: x\n---\n');
      symlinkSync('../private', folder.path('sessions', 'linked'));
    }
    writeFileSync(folder.path('sessions', 'ISA.md'), '---\ntask: x\n---\n');
    expect(find()).to.equal(undefined);
  });

  it('is not looked for by a session that has its own', () => {
    turn();
    write('fix-login', 15);
    write('slug-of-one', 1, 'not yet front matter');
    expect(find()).to.equal(undefined);
  });

  it("is not another session's", () => {
    turn();
    say(0, 'session-start', 'two');
    write('slug-of-two', 15);
    write('theirs', 15, '---\nsession: two\n---\n');
    expect(find()).to.equal(undefined);
    write('mine', 15, '---\nsession: one\n---\n');
    expect(find()).to.equal('mine');
  });

  it("is nobody's when it may be of several", () => {
    turn();
    write('fix-login', 15);
    say(11, 'session-start', 'two');
    expect(find()).to.equal('fix-login');
    say(12, 'prompt', 'two');
    expect(find()).to.equal(undefined);
    say(25, 'stop', 'two');
    expect([find(), find('two')]).to.deep.equal([undefined, undefined]);
    say(30, 'prompt', 'two');
    write('other', 35);
    say(40, 'stop', 'two');
    expect(find('two')).to.equal('other');
    write('another', 36);
    expect(find('two')).to.equal(undefined);
  });

  it('is not taken from a session that crashed in its work days ago', () => {
    say(-3 * 24 * 60, 'session-start', 'two');
    say(-3 * 24 * 60, 'prompt', 'two');
    turn();
    write('fix-login', 15);
    expect(find()).to.equal('fix-login');
  });
});
