import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { createContext, type Context } from '../../../src/lib/app/context';
import { openHeldAnswer } from '../../../src/lib/app/hold';
import { openInbox } from '../../../src/lib/app/inbox';
import { heldRequest, type HeldRequest } from '../../../src/lib/assistant/held-request';
import { loadConfig } from '../../../src/lib/config/load';
import { giveAnswer, rowToAnswer } from '../../../src/lib/inbox/answer';
import { answerAsk, waitingAsks, type AskDecision } from '../../../src/lib/inbox/asks';
import { userId } from '../../../src/lib/platform/files/system-files';
import { toIso } from '../../../src/lib/platform/time/clock';
import { appendWorkEvent } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';
import { recordedDesktop } from '../../helpers/fake-desktop';
import { long } from '../../helpers/long';

/** Longer than what a poll does takes: two that are always due would keep Node from everything else. */
const POLL_MS = 50;
const LOCKED = `"IOConsoleUsers" = ({"kCGSSessionUserIDKey"=${userId()},"CGSSessionScreenIsLocked"=Yes})`;

describe('a held request, checked again before its answer counts', () => {
  let area: TestArea;
  let context: Context;
  let folder: string;
  beforeEach(() => {
    area = testArea();
    folder = join(area.home, 'shop');
    mkdirSync(folder);
    context = {
      ...createContext(area.home),
      ...area.deps,
      desktop: recordedDesktop('darwin', { '/usr/sbin/ioreg': LOCKED }),
      loadConfig: () => loadConfig({ area: area.area, env: {}, home: area.home }),
    } as Context;
    area.write('sense/set-up.json', '{}');
    area.write('state/sessions-live.json', JSON.stringify({ version: 1, slugs: { s1: 'shop', s2: 'site' } }));
    settings(true, ['Bash']);
  });
  afterEach(() => area.remove());

  const settings = (enabled: boolean, tools: readonly string[]): void =>
    void area.write('config.yaml', JSON.stringify({ notifications: { answers: { enabled, tools } } }));
  const restrict = (): void => writeFileSync(join(folder, 'RESTRICTED.md'), '');
  const requestOf = (command: string, session = 's1'): HeldRequest => {
    const fields = { session_id: session, cwd: folder, tool_name: 'Bash', tool_input: { command } };
    const event = { hook_event_name: 'PermissionRequest', permission_mode: 'default' };
    const request = heldRequest(Buffer.from(JSON.stringify({ ...fields, ...event })));
    return request ?? expect.fail('not a request that can be held');
  };
  /** Holds a request, and returns its id once it waits. */
  const hold = async (command = 'make', session = 's1') => {
    const before = waitingAsks(context).map(({ id }) => id);
    const answer = openHeldAnswer(context, requestOf(command, session), POLL_MS);
    for (;;) {
      const id = waitingAsks(context).find((ask) => !before.includes(ask.id))?.id;
      if (id !== undefined) return { id, answer };
      await new Promise(setImmediate);
    }
  };
  const decide = (id: string, behavior: AskDecision['behavior'], meanwhile = (): void => undefined) =>
    answerAsk(
      context,
      id,
      () => {
        // The answer is stored after this, so no poll comes between the two.
        meanwhile();
        return { behavior, texts: [], forSession: false };
      },
      'the terminal',
    );
  const logged = (): unknown[] =>
    area
      .read('observability/answers.jsonl')
      .trim()
      .split('\n')
      .map((line) => {
        const { tool, decision, from } = JSON.parse(line) as Record<string, unknown>;
        return [tool, decision, from];
      });

  const ATTACKS = {
    'answers are turned off': () => settings(false, ['Bash']),
    'its repository is restricted': restrict,
    'its tool is removed from the list': () => settings(true, ['Write']),
    'the configuration becomes invalid': () => area.write('config.yaml', 'notifications: ['),
  };
  for (const [what, attack] of Object.entries(ATTACKS)) {
    it(`ends without an answer while it is held, if ${what}`, async () => {
      const { id, answer } = await hold();
      attack();
      expect(await answer).to.equal(undefined);
      expect(waitingAsks(context)).to.deep.equal([]);
      expect(logged()).to.deep.equal([['Bash', 'abstain', 'settings']]);
      expect(await decide(id, 'allow').catch(({ kind }) => kind as string)).to.equal('conflict');
    });

    it(`is not allowed by an answer, if ${what} at the same time`, async () => {
      const { id, answer } = await hold();
      await decide(id, 'allow', attack);
      expect(await answer).to.equal(undefined);
      const [first, ...more] = logged();
      expect([first, more]).to.deep.equal([
        ['Bash', 'allow', 'the terminal'],
        [['Bash', 'abstain', 'settings']],
      ]);
    });
  }

  it('is held in a session that began a moment ago', async () => {
    const about = { ts: toIso(Date.now()), session: 's9', slug: 'site', repo: 'site' } as const;
    appendWorkEvent(context.area.workEvents, { ...about, type: 'session-start' });
    const { id, answer } = await hold('make', 's9');
    await decide(id, 'allow');
    expect(await answer).to.include('"behavior":"allow"');
  });

  it('can still be refused after its tool was removed from the list', async () => {
    const { id, answer } = await hold();
    await decide(id, 'deny', ATTACKS['its tool is removed from the list']);
    expect(await answer).to.include('"behavior":"deny"');
  });

  long('has a row of its own beside another one of its session, and gets its own answer', async () => {
    const at = toIso(Date.now());
    const requests = [{ agent: null, reason: 'permission_prompt', tool: 'Bash', at }];
    const session = {
      sessionIds: ['s1'],
      startedAt: at,
      updatedAt: at,
      activity: 'waiting',
      waitingSince: at,
    };
    const sessions = { shop: { ...session, repo: 'shop', branch: 'main', requests } };
    const state = { version: 1, cursor: { offset: 0, head: '' }, sessions };
    area.write('state/sessions.json', JSON.stringify(state));
    const holds = [await hold('make one'), await hold('make two'), await hold('make three', 's2')];
    const { rows } = await openInbox(context);
    // The third one's session is not in the list.
    expect(rows.map(({ slug, title, why, ask }) => [slug, title, why, ask?.input])).to.deep.equal([
      ['shop', null, 'asks to run Bash', '{"command":"make one"}'],
      ['shop', 'shop·main', 'asks to run Bash', '{"command":"make two"}'],
    ]);
    const [first, second, third] = holds.map(({ id }) => id);
    const answerRow = (id: string | undefined, behavior: AskDecision['behavior']) =>
      giveAnswer(context, rowToAnswer(rows, id ?? '', behavior), { behavior }, 'a test');
    await answerRow(second, 'allow');
    await answerRow(first, 'deny');
    await decide(third ?? '', 'allow');
    const answers = await Promise.all(holds.map(({ answer }) => answer));
    expect(answers.map((answer) => /"behavior":"(\w+)"/.exec(answer ?? '')?.[1])).to.deep.equal([
      'deny',
      'allow',
      'allow',
    ]);
    expect(answers[1]).to.include('make two');
    expect(answers[2]).to.include('make three');
  });
});
