import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { hide, type Hides } from '../../../src/lib/assistant/hide';
import { toIso } from '../../../src/lib/platform/time/clock';
import { giveName, keepTitle, namesFolder } from '../../../src/lib/sessions/names';
import { currentSessions, type SessionsDeps } from '../../../src/lib/sessions/state';
import { appendWorkEvent, type WorkEvent, type WorkEventType } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';

const NINE = Date.UTC(2026, 10, 20, 9);
const MINUTE = 60_000;
const RESTRICTED = 'restricted-0123abcd';

describe('assistant: what a restricted session leaves', () => {
  let area: TestArea;
  let deps: SessionsDeps;
  const event = (type: WorkEventType, afterMs = 0, session = 'one', slug = RESTRICTED): WorkEvent => ({
    ...{ ts: toIso(NINE + afterMs), type, session, slug, repo: null },
  });
  beforeEach(() => {
    area = testArea();
    const { state, sessions, machine } = area.area;
    for (const folder of [state, sessions, machine]) mkdirSync(folder, { recursive: true });
    deps = {
      area: area.area,
      clock: { now: () => NINE + MINUTE, monotonic: () => 0 },
      machineId: '0123456789ab',
      dayOf: () => '2026-11-20',
    } as SessionsDeps;
    for (const one of [event('session-start'), event('prompt')]) appendWorkEvent(area.area.workEvents, one);
  });
  afterEach(() => area.remove());

  const hidden = (type: WorkEventType, hides: Partial<Hides> = {}, session = 'one'): void =>
    hide(deps, event(type, MINUTE, session), { known: RESTRICTED, file: undefined, ...hides });
  const sessionFile = (slug: string, afterMs = MINUTE, head = 'task: codename'): string => {
    const path = join(area.area.sessions, slug, 'ISA.md');
    mkdirSync(join(path, '..'));
    writeFileSync(path, `---\n${head}\n---\n`);
    utimesSync(path, (NINE + afterMs) / 1000, (NINE + afterMs) / 1000);
    return path;
  };
  const isMarked = (slug: string): boolean => existsSync(join(area.area.sessions, slug, 'RESTRICTED.md'));

  describe('its name and title', () => {
    const names = (): (string | undefined)[] => {
      const { givenName, title } = Object.values(currentSessions(deps).sessions)[0] ?? {};
      return [givenName, title];
    };
    beforeEach(() => {
      const folder = namesFolder(area.area.machine);
      keepTitle(folder, 'one', 'Sell codename', (text) => text);
      giveName(folder, { sessionIds: ['one'], assistant: 'claude-code' }, 'Codename');
      expect(names()).to.deep.equal(['Codename', 'Sell codename']);
    });

    for (const known of [undefined, '20261120-shop-0123abcd'])
      it(`are removed if it ${known === undefined ? 'was not known' : 'had a name'} before`, () => {
        hidden('prompt', { known });
        expect(names()).to.deep.equal([undefined, undefined]);
      });

    it('stay if you named it since', () => {
      hidden('prompt');
      expect(names()[0]).to.equal('Codename');
    });
  });

  describe('its session files', () => {
    it('are restricted if it had one, and the one that a tool wrote', () => {
      for (const slug of ['old-task', 'by-tool', 'of-another']) sessionFile(slug, -MINUTE);
      hidden('prompt', { known: 'old-task' });
      hidden('tool-before', { file: join(area.area.sessions, 'by-tool', 'ISA.md') });
      hidden('tool-before', { file: join(area.area.sessions, 'of-another', 'notes.md') });
      expect(['old-task', 'by-tool', 'of-another'].map(isMarked)).to.deep.equal([true, true, false]);
    });

    for (const [type, isRestricted] of [
      ...(['tool-after', 'stop', 'session-end'] as const).map((one) => [one, true] as const),
      ...(['prompt', 'tool-before', 'notification'] as const).map((one) => [one, false] as const),
    ])
      it(`are ${isRestricted ? '' : 'not '}looked for after the event ${type}`, () => {
        sessionFile('by-shell');
        hidden(type);
        expect(isMarked('by-shell')).to.equal(isRestricted);
      });

    it('are those of this turn that no other session names', () => {
      sessionFile('before', -MINUTE);
      sessionFile('of-another', MINUTE, 'session: two');
      sessionFile('own', MINUTE, 'session: one');
      hidden('stop');
      expect(['before', 'of-another', 'own'].map(isMarked)).to.deep.equal([false, false, true]);
    });

    it('cannot be told for a session that has not started', () => {
      sessionFile('by-shell');
      hidden('stop', {}, 'two');
      expect(isMarked('by-shell')).to.equal(false);
    });
  });
});
