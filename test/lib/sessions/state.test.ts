import { expect } from 'chai';
import fc from 'fast-check';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { StewardError } from '../../../src/lib/errors';
import { toIso } from '../../../src/lib/platform/time/clock';
import { archivedSessions, archiveReader } from '../../../src/lib/sessions/archive';
import { findSession } from '../../../src/lib/sessions/find';
import { requestOf } from '../../../src/lib/sessions/describe';
import {
  parseSession,
  recordArtifactPhase,
  recordPhase,
  statusOf,
  type Session,
} from '../../../src/lib/sessions/session';
import {
  currentSessions,
  runningSessions,
  storedSession,
  storedSlug,
  updateSessions,
  type SessionsDeps,
} from '../../../src/lib/sessions/state';
import {
  appendWorkEvent,
  WORK_EVENTS_ROTATE_BYTES,
  type WorkEvent,
} from '../../../src/lib/sessions/work-events';
import { manySessions } from '../../helpers/large-data';
import { testArea, type TestArea } from '../../helpers/area';
import { long } from '../../helpers/long';

const START = Date.parse('2026-11-20T08:00:00Z');
const MINUTE = 60_000;

describe('the state of the sessions', () => {
  let area: TestArea;
  let deps: SessionsDeps;
  let nowMs: number;
  beforeEach(() => {
    area = testArea();
    nowMs = START;
    deps = {
      clock: { now: () => nowMs, monotonic: () => performance.now() },
      machineId: '0123456789ab',
      area: area.area,
      dayOf: () => '2026-11-20',
    };
  });
  afterEach(() => area.remove());

  const say = (type: WorkEvent['type'], more: Partial<WorkEvent> = {}): void => {
    nowMs += MINUTE;
    appendWorkEvent(deps.area.workEvents, {
      ts: toIso(nowMs),
      type,
      session: 'one',
      slug: null,
      repo: 'site',
      ...more,
    });
  };
  const all = (): Session[] => Object.values(currentSessions(deps).sessions);
  const only = (): Session => {
    const [session, ...more] = all();
    expect(more).to.deep.equal([]);
    return session as Session;
  };
  const update = (): Promise<void> => updateSessions(deps, 5000, [], () => undefined);
  const artifact = (slug: string, frontMatter: string): void => {
    const path = join(deps.area.sessions, slug, 'ISA.md');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `---\n${frontMatter}\n---\n`);
  };

  it('follows a session through its day', async () => {
    say('session-start', { slug: '20261120-site-00000001', machine: 'm' });
    expect(only()).to.include({
      activity: 'waiting',
      mode: 'native',
      phase: 'native',
      repo: 'site',
      machine: 'm',
    });
    say('prompt');
    expect(only().activity).to.equal('working');
    say('subagent-start', { agent: 'a' });
    say('subagent-start', { agent: 'b' });
    say('subagent-start', { agent: 'a' });
    await update();
    say('subagent-stop', { agent: 'a' });
    expect(only().agents).to.deep.equal(['b']);
    say('notification', { reason: 'permission_prompt' });
    expect([only().activity, now()]).to.deep.equal(['waiting', ['waiting', 'permission_prompt']]);
    say('notification', { reason: 'auth_success' });
    say('tool-after', { tool: 'Bash' });
    expect([only().activity, now()]).to.deep.equal(['working', ['working', null]]);
    say('notification', { reason: 'auth_success' });
    expect(only().activity).to.equal('working');
    say('stop');
    expect(only().activity).to.equal('waiting');
    say('session-end', { reason: 'logout' });
    expect(only()).to.include({ activity: 'ended', slug: '20261120-site-00000001', updatedAt: toIso(nowMs) });
    expect(only().agents).to.deep.equal([]);
  });

  it('keeps the error that ended a turn, also if a log reports its end later', () => {
    say('session-start', { slug: '20261120-site-00000001', machine: 'm' });
    say('prompt');
    say('stop', { reason: 'rate_limit' });
    say('stop', { reason: 'interrupted' });
    expect(only().failure).to.deep.equal({ reason: 'rate_limit', until: null });
    say('prompt');
    expect(only().failure).to.equal(undefined);
  });

  const asked = (agent?: string): Partial<WorkEvent> => ({
    reason: 'permission_prompt',
    ...(agent === undefined ? {} : { agent }),
  });
  const now = (): [string, string | null] => [statusOf(only(), nowMs), only().requests[0]?.reason ?? null];

  it('waits for a permission whatever its subagents do meanwhile', () => {
    say('session-start', { slug: 'a-1' });
    say('prompt');
    say('notification', asked());
    for (const type of ['tool-before', 'tool-after', 'tool-failed', 'subagent-stop'] as const)
      say(type, { agent: 'a' });
    expect(now()).to.deep.equal(['waiting', 'permission_prompt']);
    say('tool-after');
    expect(now()).to.deep.equal(['working', null]);
  });

  it('stays with the person when its turn is over and a subagent goes on', () => {
    say('session-start', { slug: 'a-1' });
    say('prompt');
    say('subagent-start', { agent: 'a' });
    say('stop');
    say('tool-before', { agent: 'a' });
    say('tool-after', { agent: 'a' });
    expect(now()).to.deep.equal(['waiting', null]);
  });

  it('waits while a subagent asks, until that one goes on or ends', () => {
    say('session-start', { slug: 'a-1' });
    say('prompt');
    say('notification', asked('a'));
    say('notification', asked());
    say('tool-after', { agent: 'b' });
    say('tool-before');
    expect(now()).to.deep.equal(['waiting', 'permission_prompt']);
    say('tool-after', { agent: 'a' });
    expect(now()).to.deep.equal(['working', null]);
    say('notification', asked('b'));
    expect(now()).to.deep.equal(['waiting', 'permission_prompt']);
    say('subagent-stop', { agent: 'b' });
    expect(now()).to.deep.equal(['working', null]);
    say('notification', { agent: 'a' });
    expect(now()[0]).to.equal('waiting');
    say('prompt');
    expect(now()).to.deep.equal(['working', null]);
  });

  describe('with several requests', () => {
    const asks = (tool: string, agent?: string): void => say('notification', { ...asked(agent), tool });
    const open = (): [string, ...string[]] => {
      const requests = only().requests.map(({ agent, tool }) => `${agent ?? 'main'} ${tool}`);
      return [statusOf(only(), nowMs), ...requests];
    };
    const words = (): string | null => requestOf(only(), nowMs);
    /** Adds an event that follows the one before within a second. */
    const then = (type: WorkEvent['type'], more: Partial<WorkEvent>): void => {
      nowMs -= MINUTE - 500;
      say(type, more);
    };
    beforeEach(() => {
      say('session-start', { slug: 'a-1' });
      say('prompt');
    });

    it('changes nothing for the reminder of a request', () => {
      for (const [tool, text] of [
        ['Bash', 'asks to run Bash'],
        ['AskUserQuestion', 'asks you a question'],
        ['ExitPlanMode', 'has a plan for you to approve'],
      ] as const) {
        asks(tool);
        const before = only();
        say('notification', asked());
        expect(only()).to.deep.equal({ ...before, updatedAt: toIso(nowMs) });
        expect([words(), ...open()]).to.deep.equal([text, 'waiting', `main ${tool}`]);
        say('tool-after', { tool });
        expect(open()).to.deep.equal(['working']);
      }
    });

    it('waits until each subagent has its answer', () => {
      for (const agent of ['g1', 'g2']) say('subagent-start', { agent });
      asks('Bash', 'g1');
      asks('Edit', 'g2');
      expect([words(), ...open()]).to.deep.equal(['asks to run Bash', 'waiting', 'g1 Bash', 'g2 Edit']);
      say('tool-after', { tool: 'Edit', agent: 'g2' });
      expect(open()).to.deep.equal(['waiting', 'g1 Bash']);
      say('stop');
      expect(open()).to.deep.equal(['waiting', 'g1 Bash']);
      say('subagent-stop', { agent: 'g1' });
      expect(open()).to.deep.equal(['waiting']);
    });

    it('waits while a parallel tool of the same agent runs', () => {
      asks('WebFetch');
      then('tool-before', { tool: 'Read' });
      then('tool-after', { tool: 'Read' });
      expect(open()).to.deep.equal(['waiting', 'main WebFetch']);
      then('notification', { ...asked(), tool: 'WebFetch' });
      say('tool-after', { tool: 'WebFetch' });
      expect(open()).to.deep.equal(['waiting', 'main WebFetch']);
      say('tool-failed', { tool: 'WebFetch' });
      expect(open()).to.deep.equal(['working']);
    });

    it('works again when the agent goes on after a refusal, and is idle after an interruption', () => {
      asks('Bash');
      say('tool-before', { tool: 'Read' });
      expect(open()).to.deep.equal(['working']);
      asks('Bash');
      say('notification', { reason: 'idle_prompt' });
      expect(open()).to.deep.equal(['waiting']);
      asks('Bash', 'g1');
      say('prompt');
      expect(open()).to.deep.equal(['working']);
    });

    it('stores a limited number', async () => {
      for (let index = 0; index < 30; index += 1) asks(`tool-${index}`);
      await update();
      expect(open()).to.have.length(21);
      expect(open().at(-1)).to.equal('main tool-29');
    });
  });

  it('knows a session that began before its hooks, by any event but its end', () => {
    say('session-end');
    expect(all()).to.deep.equal([]);
    say('tool-before', { tool: 'Read' });
    expect(only().activity).to.equal('working');
    expect(only().slug).to.match(/^20261120-site-[0-9a-f]{8}$/);
  });

  it('keeps a session over a resume and a compaction', () => {
    say('session-start', { slug: '20261120-site-00000001' });
    say('prompt');
    say('subagent-start', { agent: 'a' });
    say('session-start', { slug: '20261120-site-00000001', reason: 'compact' });
    expect(only()).to.include({ activity: 'working' });
    expect(only().agents).to.deep.equal(['a']);
    say('session-end');
    say('session-start', { slug: '20261120-site-00000001', reason: 'resume' });
    expect(only()).to.include({ activity: 'waiting', startedAt: toIso(START + MINUTE) });
  });

  it('moves a session to the name of its artifact, and several to one', () => {
    say('session-start', { slug: '20261120-site-00000001' });
    artifact('fix-login', 'task: Fix the login\nproject: website\neffort: E4\nphase: build');
    say('tool-after', { tool: 'Write', slug: 'fix-login', artifact: true, phase: 'build' });
    expect(only()).to.include({
      slug: 'fix-login',
      mode: 'algorithm',
      task: 'Fix the login',
      effort: 'E4',
      phase: 'build',
    });
    expect(only()).to.include({
      startedAt: toIso(START + MINUTE),
      artifact: join(deps.area.sessions, 'fix-login', 'ISA.md'),
    });
    say('session-start', { session: 'two', slug: '20261120-site-00000002' });
    artifact('fix-login', 'task: Fix the login\nphase: verify');
    say('tool-after', { session: 'two', slug: 'fix-login', artifact: true, phase: 'verify' });
    expect(only().sessionIds).to.deep.equal(['one', 'two']);
    expect(only().phase).to.equal('verify');
  });

  it('becomes algorithm by an artifact under its own name', () => {
    say('session-start', { slug: '20261120-site-00000001' });
    artifact('20261120-site-00000001', 'task: Plain');
    say('stop');
    expect(only()).to.include({ mode: 'algorithm', phase: 'starting', task: 'Plain' });
    artifact('20261120-site-00000001', 'task: Plain\nmode: native');
    say('stop');
    expect(only().mode).to.equal('native');
  });

  it('counts nothing twice and loses nothing, whether it is stored between or not', async () => {
    const types: WorkEvent['type'][] = ['session-start', 'prompt', 'tool-before', 'tool-after', 'stop'];
    for (let index = 0; index < 60; index += 1) {
      say(types[index % 5] as WorkEvent['type'], { session: `s${index % 7}`, slug: `slug-${index % 7}` });
      if (index % 11 === 0) await update();
    }
    const stored = currentSessions(deps);
    writeFileSync(deps.area.sessionsState, '');
    expect(currentSessions(deps).sessions).to.deep.equal(stored.sessions);
    await update();
    expect(runningSessions(deps).sessions).to.deep.equal(stored.sessions);
  });

  it('passes over lines that are no events, and half lines until they are whole', async () => {
    say('session-start', { slug: 'a-1' });
    const text = readFileSync(deps.area.workEvents, 'utf8');
    const next = JSON.stringify({ ts: toIso(nowMs), type: 'stop', session: 'one', slug: null, repo: null });
    writeFileSync(deps.area.workEvents, `${text}null\n{"a":1}\n\xff\n[]\n\n${next.slice(0, 40)}`);
    await update();
    expect(only().updatedAt).to.equal(toIso(nowMs));
    writeFileSync(deps.area.workEvents, `${readFileSync(deps.area.workEvents, 'utf8')}${next.slice(40)}\n`);
    expect(only().activity).to.equal('waiting');
    expect(only().sessionIds).to.deep.equal(['one']);
  });

  it('reads the rest of a log that was rotated, also what a slow hook wrote to it', async () => {
    say('session-start', { slug: 'a-1' });
    await update();
    say('prompt');
    const rotated = deps.area.workEvents.replace('.jsonl', '.1.jsonl');
    renameSync(deps.area.workEvents, rotated);
    await update();
    expect(only().activity).to.equal('working');
    appendWorkEvent(rotated, {
      ts: toIso(nowMs),
      type: 'notification',
      session: 'one',
      slug: null,
      repo: null,
    });
    say('subagent-start', { agent: 'x' });
    await update();
    expect(only()).to.include({ activity: 'waiting' });
    expect(only().agents).to.deep.equal(['x']);
  });

  it('reads what a hook writes to the log that was rotated long before it went on', async () => {
    say('session-start', { slug: 'a-1' });
    say('prompt');
    const stalled = openSync(deps.area.workEvents, 'a');
    try {
      await update();
      renameSync(deps.area.workEvents, deps.area.workEvents.replace('.jsonl', '.1.jsonl'));
      say('tool-before');
      await update();
      await update();
      const late = { ts: toIso(nowMs), type: 'subagent-start', session: 'one', slug: null, repo: null };
      writeSync(stalled, `${JSON.stringify({ ...late, agent: 'x' })}\n`);
      expect(only().agents).to.deep.equal(['x']);
      expect(runningSessions(deps).sessions['a-1']?.agents).to.deep.equal(['x']);
      await update();
      writeSync(stalled, `${JSON.stringify({ ...late, agent: 'y' })}\n`);
      say('subagent-start', { agent: 'z' });
      await update();
      expect(only().agents, 'each once').to.deep.equal(['x', 'y', 'z']);
    } finally {
      closeSync(stalled);
    }
  });

  long('rotates a log that is read and large', async () => {
    say('session-start', { slug: 'a-1' });
    const line = `${JSON.stringify({ ts: toIso(nowMs), type: 'tool-before', session: 'one', slug: null, repo: null })}\n`;
    const times = Math.ceil(WORK_EVENTS_ROTATE_BYTES / line.length) + 1;
    writeFileSync(deps.area.workEvents, readFileSync(deps.area.workEvents, 'utf8') + line.repeat(times));
    await update();
    expect(statSync(deps.area.workEvents.replace('.jsonl', '.1.jsonl')).size).to.be.above(
      WORK_EVENTS_ROTATE_BYTES,
    );
    say('stop');
    expect(only()).to.include({ activity: 'waiting', updatedAt: toIso(nowMs) });
  });

  it('starts over with a log that was cut', async () => {
    for (let index = 0; index < 5; index += 1) say('prompt');
    await update();
    truncateSync(deps.area.workEvents, 0);
    say('stop', { session: 'other' });
    expect(all().map(({ activity }) => activity)).to.have.members(['working', 'waiting']);
  });

  it('tells crashed sessions from running ones, by a clock that was put back, too', () => {
    say('session-start', { slug: 'a-1' });
    const session = only();
    expect(statusOf(session, nowMs)).to.equal('waiting');
    expect(statusOf(session, nowMs + 12 * 60 * MINUTE)).to.equal('waiting');
    expect(statusOf(session, nowMs + 12 * 60 * MINUTE + 1)).to.equal('crashed');
    expect(statusOf(session, nowMs - 13 * 60 * MINUTE)).to.equal('crashed');
    expect(statusOf(session, nowMs - MINUTE)).to.equal('waiting');
  });

  it('takes events in the order of the log when the clock jumps back', async () => {
    say('session-start', { slug: 'a-1' });
    say('prompt');
    await update();
    nowMs -= 3 * 24 * 60 * MINUTE;
    say('stop');
    expect(only()).to.include({ activity: 'waiting', updatedAt: toIso(nowMs) });
    expect(statusOf(only(), nowMs)).to.equal('waiting');
  });

  it('prunes what is finished after 30 days, and nothing else', async () => {
    const days = (count: number): string => toIso(START - count * 24 * 60 * MINUTE);
    const state = JSON.parse(manySessions(4)) as { sessions: Record<string, Session> };
    const [a, b, c, d] = Object.values(state.sessions) as [Session, Session, Session, Session];
    Object.assign(a, { phase: 'complete', updatedAt: days(31) });
    Object.assign(b, { phase: 'complete', updatedAt: days(29) });
    Object.assign(c, { phase: 'build', updatedAt: days(300) });
    Object.assign(d, { artifact: null, mode: 'native', phase: 'native', updatedAt: days(31) });
    area.write('state/sessions.json', JSON.stringify(state));
    await update();
    expect(all().map(({ slug }) => slug)).to.have.members([b.slug, c.slug]);
  });

  describe('with thousands that have ended', () => {
    const old = (index: number): string => `20261101-some-task-${String(index).padStart(8, '0')}`;
    const idOf = (index: number): string => `0f0e9d1c-8a7b-4c6d-9e5f-${String(index).padStart(12, '0')}`;
    const stored = (): Record<string, Session> =>
      (JSON.parse(area.read('state/sessions.json')) as { sessions: Record<string, Session> }).sessions;
    const archived = (): string => area.read('state/sessions-archive/2026-11.jsonl');
    let before: Session[];

    beforeEach(async () => {
      area.write('state/sessions.json', manySessions(300));
      before = all();
      await update();
    });

    it('moves them to the archive of their month, and they are found as before', () => {
      expect(stored()).to.deep.equal({});
      expect(archived().trimEnd().split('\n')).to.have.length(300);
      expect(all()).to.deep.equal(before);
      expect(findSession(currentSessions(deps), old(7), nowMs)).to.include({
        slug: old(7),
        activity: 'ended',
      });
    });

    it('takes the one back that an event speaks of, by its id or its slug', async () => {
      say('prompt', { session: idOf(3) });
      await update();
      expect(stored()[old(3)]).to.include({
        activity: 'working',
        updatedAt: toIso(nowMs),
        task: before[3]?.task,
      });
      say('tool-after', { session: 'another', slug: old(4), artifact: true });
      await update();
      expect(stored()[old(4)]?.sessionIds).to.deep.equal([idOf(4), 'another']);
      expect(all()).to.have.length(300);
    });

    it('takes the one back that is asked for, and knows all by their slugs', async () => {
      const seen = await updateSessions(deps, 5000, [old(5)], (state, isKnown) => [
        ...Object.keys(state.sessions),
        isKnown(old(6)),
        isKnown('nobody'),
      ]);
      expect(seen).to.deep.equal([old(5), true, false]);
    });

    long('are read again by a daemon only after a file has changed, and callers get copies', () => {
      const read = archiveReader({ now: () => Date.now() + 60_000 });
      const folder = join(area.area.root, 'state', 'sessions-archive');
      const [slug = ''] = Object.keys(read(folder));
      read(folder)[slug]!.sessionIds.push('another');
      expect(read(folder)).to.deep.equal(archivedSessions(folder));
      area.write(
        'state/sessions-archive/2026-10.jsonl',
        `${JSON.stringify({ ...before[3], slug: 'more' })}\n`,
      );
      expect(Object.keys(read(folder)))
        .to.include('more')
        .and.to.have.length(301);
    });

    it('archives one again that went on, and its last line counts', async () => {
      say('prompt', { session: idOf(3) });
      await update();
      nowMs += 25 * 60 * MINUTE;
      await update();
      expect(stored()).to.deep.equal({});
      expect(findSession(currentSessions(deps), old(3), nowMs)).to.include({ activity: 'working' });
      expect(all()).to.have.length(300);
      nowMs += 24 * 60 * MINUTE;
      await update();
      expect(archived().trimEnd().split('\n'), 'superseded lines').to.have.length(300);
    });

    it('looks for those that are over once a day', async () => {
      nowMs += 40 * 24 * 60 * MINUTE;
      const lines = archived().split('\n');
      const changed = lines.map((line, index) =>
        index < 100 ? line.replace('"learn"', '"complete"') : line,
      );
      area.write('state/sessions-archive/2026-11.jsonl', changed.join('\n'));
      await update();
      expect(all()).to.have.length(200);
      await updateSessions(deps, 5000, [], (state) => (state.pruned = '2026-01-01'));
    });

    it('passes over lines that hold no session', () => {
      area.write('state/sessions-archive/2026-11.jsonl', `nonsense\n${archived()}{"slug":"half`);
      expect(all()).to.deep.equal(before);
    });

    long('says the same as with all of them in hand', async () => {
      const events = fc.array(
        fc.record({
          type: fc.constantFrom('session-start', 'prompt', 'stop', 'session-end') as fc.Arbitrary<'prompt'>,
          session: fc.oneof(fc.integer({ min: 0, max: 299 }).map(idOf), fc.constantFrom('x', 'y')),
          slug: fc.option(fc.integer({ min: 0, max: 299 }).map(old), { nil: null }),
          artifact: fc.boolean(),
        }),
        { maxLength: 6 },
      );
      await fc.assert(
        fc.asyncProperty(events, async (list) => {
          for (const { type, artifact: is, ...more } of list)
            say(type, is ? { ...more, artifact: is } : more);
          const expected = currentSessions(deps).sessions;
          await update();
          expect(currentSessions(deps).sessions).to.deep.equal(expected);
        }),
        { numRuns: 30 },
      );
    });
  });

  const earlier = JSON.parse(readFileSync('test/fixtures/sessions-asleep.json', 'utf8')) as Record<
    string,
    string
  >[];
  earlier.forEach((files, index) =>
    it(`takes over what an earlier version stored with sleeping sessions, ${index + 1}`, async () => {
      for (const [name, text] of Object.entries(files)) area.write(name, text);
      const stored = (JSON.parse(files['state/sessions.json'] ?? '') as { sessions: Record<string, Session> })
        .sessions;
      const [live = ''] = Object.keys(stored).filter((slug) => stored[slug]?.sessionIds.includes('new-one'));
      nowMs = Date.parse(stored[live]?.updatedAt ?? '') + MINUTE;
      const slugs = ['old-ended', 'old-two', 'old-native', 'old-crashed'];
      expect(Object.keys(stored)).to.include.members(slugs);
      expect(storedSlug(deps, 'new-one')).to.equal(live);
      say('prompt', { session: 'id-old-two' });
      await update();
      const now = currentSessions(deps).sessions;
      expect(Object.keys(now)).to.have.members(Object.keys(stored));
      expect(now['old-ended']).to.deep.equal(parseSession('old-ended', stored['old-ended']));
      expect(now['old-two']).to.include({ activity: 'working', task: 'Größe ändern' });
      expect(Object.keys(runningSessions(deps).sessions)).to.not.include.members([
        'old-ended',
        'old-crashed',
      ]);
      expect(storedSlug(deps, 'new-one')).to.equal(live);
      expect(storedSlug(deps, 'id-old-two')).to.equal('old-two');
    }),
  );

  it('makes a broken file anew from the log, and keeps it', async () => {
    say('session-start', { slug: 'a-1' });
    await update();
    area.write('state/sessions.json', '{"version":1,"sess');
    await update();
    expect(all().map(({ slug }) => slug)).to.deep.equal(['a-1']);
    expect(area.read('state/sessions.json.broken')).to.equal('{"version":1,"sess');
  });

  it('leaves the file of a newer version alone', async () => {
    const text = JSON.stringify({ version: 2, sessions: {} });
    area.write('state/sessions.json', text);
    const failed = await update().catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(StewardError).with.property('kind', 'config');
    expect(area.read('state/sessions.json')).to.equal(text);
  });

  it('gives those of the last day quickly, with the end of the log', async () => {
    area.write('state/sessions.json', manySessions(50));
    say('session-start', { slug: 'a-1' });
    await update();
    say('prompt');
    say('subagent-start', { agent: 'x' });
    expect(runningSessions(deps).sessions).to.deep.equal({
      'a-1': findSession(currentSessions(deps), 'a-1', nowMs),
    });
    rmSync(deps.area.sessionsState);
    mkdirSync(deps.area.sessionsState);
    expect(() => runningSessions(deps))
      .to.throw(StewardError)
      .with.property('kind', 'config');
  });

  it('has the slug of each id in a small file', async () => {
    area.write('state/sessions.json', manySessions(50, toIso(START)).replaceAll('"ended"', '"working"'));
    await update();
    const [session] = all() as [Session];
    const [id = ''] = session.sessionIds;
    expect(storedSlug(deps, id)).to.equal(session.slug);
    expect(storedSession(deps.area.sessionsState, id)).to.deep.equal(session);
    for (const name of ['nobody', 'constructor', session.slug]) {
      expect(storedSlug(deps, name)).to.equal(undefined);
      expect(storedSession(deps.area.sessionsState, name)).to.equal(undefined);
    }
    expect(statSync(deps.area.sessionsLive).size).to.be.below(5000);
    area.write('state/sessions-live.json', 'no JSON at all');
    expect(storedSlug(deps, id)).to.equal(session.slug);
    area.write('state/sessions-live.json', '{"version":2,"slugs":{}}');
    expect(() => storedSlug(deps, id))
      .to.throw(StewardError)
      .with.property('kind', 'config');
  });

  it('removes once a day what killed hooks were writing', async () => {
    say('session-start', { slug: 'a-1' });
    await update();
    const left = area.write('state/.sessions.json.0123456789ab.tmp', 'half');
    const stranger = area.write('state/.mine.tmp', 'kept');
    nowMs = Date.now() + 2 * 3_600_000;
    const day = toIso(nowMs).slice(0, 10);
    area.write('state/sessions.json', area.read('state/sessions.json').replace('"2026-11-20"', `"${day}"`));
    await update();
    expect(existsSync(left)).to.equal(true);
    nowMs += 24 * 60 * MINUTE;
    await update();
    expect(existsSync(left)).to.equal(false);
    expect(existsSync(stranger)).to.equal(true);
  });

  it('is found by a slug or the beginning of one', () => {
    say('session-start', { session: 'a', slug: 'fix-a' });
    say('session-start', { session: 'b', slug: 'fix-b' });
    say('session-start', { session: 'c', slug: 'fix' });
    const state = currentSessions(deps);
    expect(findSession(state, 'fix', nowMs).slug).to.equal('fix');
    expect(findSession(state, 'fix-b', nowMs).slug).to.equal('fix-b');
    expect(() => findSession(state, 'fix-', nowMs))
      .to.throw(StewardError)
      .with.property('kind', 'usage');
    for (const text of ['nothing', '__proto__', 'constructor'])
      expect(() => findSession(state, text, nowMs))
        .to.throw(StewardError)
        .with.property('kind', 'not_found');
  });

  describe('phases from two sources', () => {
    const at = toIso(START);
    const fresh = (): Session => {
      say('session-start', { slug: 'a-1' });
      return only();
    };
    const history = (session: Session): string[] =>
      session.phaseHistory.map(({ phase, source }) => `${phase} ${source}`);

    it('merge when they say the same', () => {
      const session = fresh();
      recordPhase(session, 'build', 'voice', at);
      recordArtifactPhase(session, 'build', at);
      recordArtifactPhase(session, 'build', at);
      recordPhase(session, 'verify', 'voice', at);
      expect(history(session)).to.deep.equal(['native hook', 'build merged', 'verify voice']);
    });

    it('do not go back to what the artifact still says', () => {
      const session = fresh();
      recordArtifactPhase(session, 'execute', at);
      recordPhase(session, 'verify', 'voice', at);
      recordArtifactPhase(session, 'execute', at);
      expect(session.phase).to.equal('verify');
      recordArtifactPhase(session, 'verify', at);
      recordArtifactPhase(session, 'execute', at);
      expect(history(session)).to.deep.equal([
        'native hook',
        'execute artifact',
        'verify merged',
        'execute artifact',
      ]);
    });

    it('are bounded in number', () => {
      const session = fresh();
      for (let index = 0; index < 500; index += 1) {
        recordPhase(session, index % 2 === 0 ? 'build' : 'plan', 'voice', at);
      }
      expect(session.phaseHistory).to.have.length(200);
    });
  });
});
