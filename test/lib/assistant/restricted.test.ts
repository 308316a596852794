import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { runHook } from '../../../src/lib/assistant/hook';
import type { HeardPrompt, HookDeps } from '../../../src/lib/assistant/hook-event';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { labelOf } from '../../../src/lib/sessions/describe';
import { keepTitle, namesFolder } from '../../../src/lib/sessions/names';
import type { Session } from '../../../src/lib/sessions/session';
import { currentSessions, storedSlug } from '../../../src/lib/sessions/state';
import { testArea, type TestArea } from '../../helpers/area';
import { hookJson, RECORDED_EVENTS, verbOf, type RecordedEvent } from '../../helpers/hooks';

const NAMELESS = /^restricted-[0-9a-f]{8}$/;

describe('assistant: a session in a restricted folder', () => {
  let area: TestArea;
  let deps: HookDeps;
  let heard: HeardPrompt[];
  const at = (...names: string[]): string => join(area.home, ...names);

  beforeEach(() => {
    area = testArea();
    heard = [];
    const { sessions, machine, state } = area.area;
    for (const folder of [state, sessions, machine]) mkdirSync(folder, { recursive: true });
    deps = {
      clock: systemClock(),
      machineId: '0123456789ab',
      area: area.area,
      dayOf: () => '2026-11-20',
      env: {},
      tab: false,
      tellAssistant: true,
      completionLine: (message) => Promise.resolve(message),
      onPrompt(prompt) {
        heard.push(prompt);
        keepTitle(namesFolder(machine), prompt.session, prompt.text, (text) => text);
        return undefined;
      },
    };
    for (const repo of ['codename', 'shop']) {
      mkdirSync(at(repo, '.git'), { recursive: true });
      writeFileSync(at(repo, '.git', 'HEAD'), `ref: refs/heads/${repo}-branch\n`);
    }
    writeFileSync(at('codename', 'RESTRICTED.md'), '');
  });
  afterEach(() => area.remove());

  const hook = async (event: RecordedEvent, repo: string, more: object = {}): Promise<string> => {
    const transcript = at(repo, `${repo}.jsonl`);
    const payload = hookJson(event, {
      session_id: 'one',
      cwd: at(repo),
      transcript_path: transcript,
      ...more,
    });
    const { output, trouble } = await runHook(deps, {
      verb: verbOf(event),
      bytes: Buffer.from(payload),
      cut: false,
    });
    expect(trouble).to.equal(undefined);
    return output;
  };
  const only = (): Session => {
    const [session, ...more] = Object.values(currentSessions(deps).sessions);
    expect(more).to.deep.equal([]);
    return session ?? expect.fail('no session');
  };
  const stored = (): string => {
    const { root, machine } = area.area;
    const text = (path: string): string =>
      statSync(path).isDirectory()
        ? readdirSync(path)
            .map((name) => `${name}\n${text(join(path, name))}`)
            .join('')
        : readFileSync(path, 'utf8');
    return [root, machine].map(text).join('\n');
  };
  const sessionFile = (slug: string, text = '---\ntask: codename task\nphase: execute\n---\n'): string => {
    mkdirSync(join(deps.area.sessions, slug), { recursive: true });
    const path = join(deps.area.sessions, slug, 'ISA.md');
    writeFileSync(path, text);
    return path;
  };
  const isMarked = (slug: string): boolean => existsSync(join(deps.area.sessions, slug, 'RESTRICTED.md'));

  it('is stored without repository, folder, branch, title, transcript and text, whatever it does', async () => {
    for (const event of RECORDED_EVENTS) {
      const output = await hook(event, 'codename', {
        ...{ prompt: 'remind me to sell codename', last_assistant_message: 'codename sold' },
      });
      expect(output, event).to.not.match(/codename/);
    }
    expect(stored()).to.not.match(/codename/);
    expect(heard).to.deep.equal([]);
    const session = only();
    expect(session.slug).to.match(NAMELESS);
    expect(session).to.include({ repo: null, task: null, artifact: null, activity: 'ended' });
    expect(labelOf(session)).to.equal('restricted session');
    // "go" still finds the terminal.
    expect(session.terminal).to.not.equal(null);
  });

  it('stays restricted when it moves on, and loses the names it had when it moves there', async () => {
    await hook('session-start', 'shop');
    await hook('prompt', 'shop', { prompt: 'Sell the shop' });
    expect(only()).to.include({ repo: 'shop', branch: 'shop-branch', title: 'Sell the shop' });
    await hook('tool', 'codename');
    const { slug } = only();
    expect(slug).to.match(NAMELESS);
    expect(storedSlug(deps, 'one')).to.equal(slug);
    await hook('prompt', 'shop', { prompt: 'remind me to sell codename' });
    await hook('stop', 'shop');
    expect(heard.map(({ text }) => text)).to.deep.equal(['Sell the shop']);
    const after = only();
    expect(after).to.include({ slug, repo: null });
    expect(after).to.not.have.any.keys('branch', 'title', 'transcript');
    expect(readFileSync(deps.area.sessionsLive, 'utf8')).to.not.match(/shop/);
  });

  it('keeps its session files from being read: those of a tool, of a shell, and from before', async () => {
    const before = sessionFile('old-task');
    await hook('session-start', 'shop');
    await hook('tool', 'shop', { tool_name: 'Write', tool_input: { file_path: before } });
    expect(only()).to.include({ slug: 'old-task', task: 'codename task' });
    await hook('prompt', 'codename');
    expect(isMarked('old-task')).to.equal(true);
    const path = sessionFile('by-tool');
    await hook('tool', 'codename', { tool_name: 'Write', tool_input: { file_path: path } });
    expect(isMarked('by-tool')).to.equal(true);
    sessionFile('by-shell');
    await hook('tool', 'codename');
    expect(isMarked('by-shell')).to.equal(true);
    sessionFile('of-another', '---\nsession: two\ntask: open\n---\n');
    await hook('stop', 'codename');
    expect(isMarked('of-another')).to.equal(false);
    expect(only()).to.include({ task: null, artifact: null });
  });

  it('is a session of the folder again only as a new session', async () => {
    await hook('session-start', 'codename');
    renameSync(at('codename', 'RESTRICTED.md'), at('codename', 'OPEN.md'));
    await hook('stop', 'codename');
    expect(only().slug).to.match(NAMELESS);
    await hook('session-start', 'codename', { session_id: 'two' });
    const repos = Object.values(currentSessions(deps).sessions).map(({ repo }) => repo);
    expect(repos).to.have.members([null, 'codename']);
  });
});
