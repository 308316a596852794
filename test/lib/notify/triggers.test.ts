import { expect } from 'chai';

import { readTurnEnd } from '../../../src/lib/assistant/transcripts';
import { acceptRequest } from '../../../src/lib/notify/accept';
import type { NotifyRequest } from '../../../src/lib/notify/message';
import {
  drainTriggers,
  hasTriggers,
  type Presence,
  type TriggerDeps,
} from '../../../src/lib/notify/triggers';
import { toIso } from '../../../src/lib/platform/time/clock';
import type { OpenRequest } from '../../../src/lib/sessions/requests';
import type { Session } from '../../../src/lib/sessions/session';
import { leave } from '../../../src/lib/sessions/spool';
import { type Intention } from '../../../src/lib/sessions/intention';
import { testArea, type TestArea } from '../../helpers/area';
import { MINUTE, NINE, notifyWorld, type NotifyWorld } from '../../helpers/notify';

function request(tool: string | null = 'Bash', at = NINE): OpenRequest {
  return { agent: null, reason: 'permission_prompt', tool, at: toIso(at) };
}

describe('the triggers of notifications', () => {
  let area: TestArea;
  let world: NotifyWorld;
  let session: Session | undefined;
  let others: Session[];
  let assistant: string | undefined;
  let presence: Presence;
  let isHolding: boolean;
  let turns: 'long' | 'always' | 'never';
  let got: NotifyRequest[];
  let deps: TriggerDeps;
  beforeEach(() => {
    area = testArea();
    world = notifyWorld();
    got = [];
    assistant = undefined;
    others = [];
    presence = 'unknown';
    isHolding = false;
    turns = 'long';
    session = {
      slug: 'website-1',
      sessionIds: ['one', 'two'],
      task: null,
      repo: 'website',
      branch: 'main',
      activity: 'waiting',
      requests: [request()],
      updatedAt: toIso(NINE),
      waitingSince: toIso(NINE),
    } as unknown as Session;
    const { clock, machineId } = world.deps;
    deps = {
      clock,
      spool: { clock, machineId, area: area.area },
      sessions: () => (session === undefined ? [] : [session, ...others]),
      assistantOf: () => assistant,
      turnEnd: readTurnEnd,
      isHolding: () => isHolding,
      presence: () => Promise.resolve(presence),
      accept: (request) => {
        got.push(request);
        return acceptRequest(world.deps, request);
      },
      daName: () => 'Max',
      notifiedTurns: () => turns,
      longTaskMinutes: () => 5,
    };
  });
  afterEach(() => {
    area.remove();
    world.remove();
  });

  const left = (kind: Intention['kind'], more: Partial<Intention> = {}, tookSec = 0): Intention => {
    if (session !== undefined) session.turnAt = toIso(world.nowMs - tookSec * 1000);
    return leave(deps.spool, { kind, session: 'one', slug: null, transcript: null, ...more });
  };
  /** Queues the alert of a request that is open, except for those that `requests` doesn't contain. */
  const asks = (reason?: string, at = NINE): Intention =>
    left('attention', { asked: toIso(at), ...(reason === undefined ? {} : { reason }) });
  const transcript = (...entries: object[]): string =>
    area.write('t.jsonl', entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const said = (text: string, more: object = {}): object => ({
    type: 'assistant',
    uuid: `id-${text.length}`,
    message: { content: [{ type: 'text', text }] },
    ...more,
  });
  const asked = (text: string): object => ({ type: 'user', message: { content: text } });
  const channels = (): string[][] =>
    world
      .entries()
      .map((entry) => entry.channels.filter(({ result }) => result !== 'skipped'))
      .map((sent) => sent.map(({ channel }) => channel));

  describe('the end of a turn', () => {
    it('sends the completion line of the last response, once', async () => {
      const path = transcript(asked('go'), said('Long talk.\n\n🗣️ Max: The site is live.'));
      turns = 'always';
      left('turn-ended', { transcript: path }, 60);
      left('turn-ended', { transcript: path }, 60);
      await drainTriggers(deps);
      const [entry, again, ...more] = world.entries().reverse();
      expect(more).to.deep.equal([]);
      expect(entry).to.include({ text: 'The site is live.', event: 'taskComplete' });
      expect(entry?.channels.map(({ channel }) => channel)).to.deep.equal(['voice']);
      expect(again?.duplicateOf).to.equal(entry?.id);
      expect(hasTriggers(deps)).to.equal(false);
    });

    it('is a banner until steward may speak', async () => {
      world.deps.maySpeak = () => false;
      turns = 'always';
      left('turn-ended', { transcript: transcript(asked('go'), said('Max: The site is live.')) }, 60);
      await drainTriggers(deps);
      expect(channels()).to.deep.equal([['desktop']]);
    });

    it('is a longTask by the time since the prompt', async () => {
      const path = transcript(asked('go'), said('Max: Built.'));
      left('turn-ended', { transcript: path }, 301);
      await drainTriggers(deps);
      expect(world.entries()[0]).to.include({ event: 'longTask', text: 'Built.' });
    });

    it('is not sent for a conversation, but for a long turn without a line', async () => {
      const path = transcript(asked('hello'), said('Hello! How are you?'));
      left('turn-ended', { transcript: path }, 20);
      await drainTriggers(deps);
      expect(got).to.deep.equal([]);
      left('turn-ended', { transcript: path }, 720);
      await drainTriggers(deps);
      expect(world.entries()[0]).to.include({
        event: 'longTask',
        text: 'website·main finished after 12 min.',
      });
    });

    it('is silent for a short turn by default, even with a completion line', async () => {
      const ended = { line: 'The site is live.', isError: false };
      for (const tookSec of [0, 60, 300]) {
        left('turn-ended', { ended }, tookSec);
        await drainTriggers(deps);
      }
      expect(got).to.deep.equal([]);
      left('turn-ended', { ended }, 301);
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal(['The site is live.']);
    });

    it('is told by the hook, and the transcript is not read then', async () => {
      const path = transcript(asked('go'), said('Max: From the transcript.'));
      const endings: [line: string | null, isError: boolean, tookSec: number][] = [
        ['The site is live.', false, 360],
        [null, false, 20],
        [null, false, 420],
        [null, true, 21],
      ];
      for (const [line, isError, tookSec] of endings) {
        left('turn-ended', { transcript: path, ended: { line, isError } }, tookSec);
        await drainTriggers(deps);
      }
      expect(got.map(({ event, message }) => [event, message])).to.deep.equal([
        ['taskComplete', 'The site is live.'],
        ['longTask', 'website·main finished after 7 min.'],
        ['error', 'website·main stopped with an error.'],
      ]);
      expect(got[0]?.title).to.equal('website·main');
    });

    it('is notified as notify.turnEnd says', async () => {
      turns = 'always';
      left('turn-ended', { ended: { line: null, isError: false } }, 40);
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal(['website·main finished after 40 s.']);
      turns = 'never';
      left('turn-ended', { ended: { line: 'Done.', isError: false } }, 420);
      await drainTriggers(deps);
      expect(got.length).to.equal(1);
      left('turn-ended', { ended: { line: null, isError: true } }, 421);
      await drainTriggers(deps);
      expect(got.at(-1)?.event).to.equal('error');
    });

    it('is an error if the transcript ends with one', async () => {
      const end = said('API Error: 500', { isApiErrorMessage: true });
      left('turn-ended', { transcript: transcript(asked('go'), said('Max: Done.'), asked('more'), end) });
      await drainTriggers(deps);
      expect(world.entries()[0]).to.include({ event: 'error', text: 'website·main stopped with an error.' });
    });

    it('waits for an unfinished transcript, and ignores the turn before', async () => {
      turns = 'always';
      const path = transcript(asked('go'), said('Max: The first.'), asked('more'));
      left('turn-ended', { transcript: path });
      await drainTriggers(deps);
      expect([got.length, hasTriggers(deps)]).to.deep.equal([0, true]);
      transcript(asked('go'), said('Max: The first.'), asked('more'), said('Max: The second one.'));
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal(['The second one.']);
      transcript(asked('go'));
      turns = 'long';
      left('turn-ended', { transcript: path });
      for (let look = 0; look < 3; look += 1) await drainTriggers(deps);
      expect([got.length, hasTriggers(deps)]).to.deep.equal([1, false]);
    });

    it('ignores subagents and unknown lines', async () => {
      const path = transcript(
        asked('go'),
        said('Max: Mine.'),
        said('Max: Its own.', { isSidechain: true }),
        { type: 'user', message: { content: [{ type: 'tool_result', content: 'x' }] } },
        { type: 'new-thing', message: 7 },
      );
      left('turn-ended', { transcript: path }, 301);
      await drainTriggers(deps);
      left('turn-ended', { transcript: '/nowhere.jsonl' });
      left('turn-ended', { transcript: 'relative.jsonl' });
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal(['Mine.']);
    });
  });

  describe('the end of agents', () => {
    it('is one silent message for eight agents', async () => {
      for (let n = 0; n < 8; n += 1) {
        left('agent-ended');
        world.nowMs += 500;
      }
      await drainTriggers(deps);
      expect([got.length, hasTriggers(deps)], 'more may end').to.deep.equal([0, true]);
      world.nowMs += 2000;
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal(['website·main: 8 agents finished.']);
      expect(got[0]).to.include({ voiceEnabled: false, source: 'subagent' });
      expect(channels()).to.deep.equal([['push']]);
      expect(hasTriggers(deps)).to.equal(false);
    });

    it('is sent by session, without waiting forever', async () => {
      left('agent-ended');
      left('agent-ended', { session: 'two' });
      for (let n = 0; n < 15; n += 1) {
        world.nowMs += 1000;
        left('agent-ended');
        if (n < 13) await drainTriggers(deps);
      }
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.have.members(['website·main: an agent finished.', 'website·main: 16 agents finished.']); // prettier-ignore
    });
  });

  describe('a session that waits', () => {
    it('is told apart from another of its name, as in the list', async () => {
      others = [{ ...session, slug: 'website-2', sessionIds: ['three'] } as Session];
      asks('permission_prompt');
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal(['website·main (te-1) asks to run Bash.']);
    });

    it('is idle only where the end of its turn is notified', async () => {
      if (session !== undefined) session.requests = [];
      for (const [which, minutes, expected] of [
        ['never', 9, 0],
        ['long', 1, 0],
        ['long', 9, 1],
        ['always', 1, 1],
      ] as const) {
        [turns, got.length] = [which, 0];
        if (session !== undefined) session.waitingSince = toIso(NINE + minutes * MINUTE);
        asks('idle_prompt');
        await drainTriggers(deps);
        expect(got.length, `${which}, ${minutes} min`).to.equal(expected);
      }
    });

    it('is not pushed beside the push of the vendor', async () => {
      world.notifications.routing.attention = ['desktop', 'push', 'telegram'];
      for (const where of ['away', 'unknown'] as const) {
        presence = where;
        if (session !== undefined) session.waitingSince = toIso(world.nowMs++);
        left('attention', { asked: toIso(NINE), reason: 'permission_prompt', isBridged: true });
        await drainTriggers(deps);
      }
      left('turn-ended', { ended: { line: 'Built.', isError: false }, isBridged: true }, 301);
      await drainTriggers(deps);
      expect(channels().reverse()).to.deep.equal([['desktop'], ['voice', 'desktop'], ['voice']]);
    });

    const presences: [Presence, string[] | undefined][] = [
      ['front', undefined],
      ['desk', ['voice', 'desktop']],
      ['away', ['push']],
      ['elsewhere', undefined],
      ['unknown', ['voice', 'desktop', 'push']],
    ];
    for (const [where, expected] of presences) {
      it(`reaches a person who is ${where} over ${expected?.join(' and ') ?? 'nothing'}`, async () => {
        presence = where;
        asks('permission_prompt');
        await drainTriggers(deps);
        expect(channels()).to.deep.equal(expected === undefined ? [] : [expected]);
        if (expected !== undefined) {
          expect(world.entries()[0]).to.include({
            text: 'website·main asks to run Bash.',
            event: 'attention',
          });
        }
      });
    }

    it('names the session and what it asks for', async () => {
      turns = 'always';
      for (const reason of ['permission_prompt', 'idle_prompt', 'unheard_of']) {
        if (session !== undefined) session.requests = reason === 'idle_prompt' ? [] : [request(null)];
        if (reason === 'permission_prompt' && session !== undefined) session.givenName = 'Login rewrite';
        if (session !== undefined) session.waitingSince = toIso(NINE + got.length * MINUTE);
        asks(reason);
        await drainTriggers(deps);
      }
      expect(got.map(({ message }) => message)).to.deep.equal([
        'Login rewrite asks for permission.',
        'Login rewrite is waiting for your next prompt.',
        'Login rewrite asks for your input.',
      ]);
    });

    it('names the assistant while several have sessions', async () => {
      assistant = 'Codex CLI';
      asks('permission_prompt');
      await drainTriggers(deps);
      if (session !== undefined) Object.assign(session, { repo: null, waitingSince: toIso(NINE + MINUTE) });
      asks('permission_prompt');
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal([
        'website·main (Codex CLI) asks to run Bash.',
        'Codex CLI asks to run Bash.',
      ]);
    });

    it('waits a moment for a request that is being held, so that its push has buttons', async () => {
      [presence, isHolding] = ['away', true];
      asks('permission_prompt');
      await drainTriggers(deps);
      expect(got).to.have.length(0);
      isHolding = false;
      await drainTriggers(deps);
      expect(got.map(({ thread }) => thread)).to.deep.equal(['website-1']);
      [isHolding, got.length] = [true, 0];
      if (session !== undefined) session.waitingSince = toIso(NINE + MINUTE);
      asks('permission_prompt');
      for (let run = 0; run < 4; run += 1) await drainTriggers(deps);
      expect(got, 'and not for ever').to.have.length(1);
    });

    it('keeps the banner if no push can go out', async () => {
      presence = 'away';
      world.channels.push.offReason = 'no topic is set';
      asks();
      await drainTriggers(deps);
      expect(channels()).to.deep.equal([['desktop']]);
    });

    it('is sent once a wait: the prompt and its reminder are one', async () => {
      asks('permission_prompt');
      asks('permission_prompt');
      await drainTriggers(deps);
      expect(channels().filter((to) => to.length > 0)).to.have.length(1);
      if (session !== undefined) session.waitingSince = toIso(NINE + MINUTE);
      asks('permission_prompt');
      await drainTriggers(deps);
      expect(channels().filter((to) => to.length > 0)).to.have.length(2);
    });

    it('is not sent for the reminder of a request', async () => {
      asks('permission_prompt');
      asks('permission_prompt', NINE + 7000);
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal(['website·main asks to run Bash.']);
    });

    it('is sent for each different request', async () => {
      if (session !== undefined) session.requests = [request(), request('Edit', NINE + 1000)];
      asks('permission_prompt');
      world.nowMs += 1000;
      asks('permission_prompt', NINE + 1000);
      await drainTriggers(deps);
      expect(got.map(({ message }) => message)).to.deep.equal([
        'website·main asks to run Bash.',
        'website·main asks to run Edit.',
      ]);
    });

    it('is not sent if it was answered meanwhile, even if the turn has ended since', async () => {
      if (session !== undefined) session.requests = [];
      asks('permission_prompt');
      delete session?.waitingSince;
      if (session !== undefined) session.activity = 'working';
      asks('idle_prompt');
      await drainTriggers(deps);
      expect(got).to.deep.equal([]);
    });
  });
});
