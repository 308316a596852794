import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import type { Assistant } from '../../src/lib/assistant/assistant';
import { runHook } from '../../src/lib/assistant/hook';
import type { HookDeps } from '../../src/lib/assistant/hook-event';
import { installHooks, installedEvents } from '../../src/lib/assistant/install';
import type { HookInstallDeps } from '../../src/lib/assistant/install-deps';
import { uninstallAllHooks } from '../../src/lib/assistant/uninstall';
import { userArea } from '../../src/lib/config/user-area';
import { sessionKey } from '../../src/lib/sessions/session-key';
import { readWorkEvents, type WorkEvent } from '../../src/lib/sessions/work-events';
import { LOG_START } from '../../src/lib/platform/files/journal';
import { testArea, type TestArea } from '../helpers/area';
import { PAYLOADS, PLAYED_ID, PLAYED_SECRET, RULES, SETTINGS, type Played } from './assistant-payloads';
import { long } from '../helpers/long';

const ROOT = resolve(__dirname, '..', '..');
const NOW = Date.parse('2026-11-20T10:00:00Z');

/** What holds for every assistant. */
export function assistantContract(assistant: Assistant): void {
  const { id } = assistant;
  describe(`assistant ${id}`, () => {
    let at: TestArea;
    beforeEach(() => {
      at = testArea();
    });
    afterEach(() => at.remove());

    const host = () => ({ platform: process.platform, env: {}, home: at.home });
    const path = (): string => assistant.path(host());
    const installDeps = (home = at.home): HookInstallDeps => ({
      ...{ area: userArea({ ...host(), home }), machineId: '0123456789ab', host: { ...host(), home } },
      clock: { now: () => NOW, monotonic: () => 0 },
      product: { root: ROOT, node: process.execPath },
    });
    const install = (dryRun = false) => installHooks(installDeps(), { assistant, dryRun });
    const uninstall = async (dryRun = false) => {
      const { result, failures } = await uninstallAllHooks(installDeps(), {
        assistants: [assistant],
        dryRun,
      });
      expect(failures).to.deep.equal([]);
      return result;
    };
    const files = (): string[] =>
      readdirSync(at.home, { recursive: true, encoding: 'utf8' })
        .filter((name) => !/^\.(?:steward|local)/.test(name))
        .sort();
    const put = (text: string): void => {
      mkdirSync(dirname(path()), { recursive: true });
      writeFileSync(path(), text);
    };

    it('has a folder and a file in it, below the home or where its variable says', () => {
      expect(path().startsWith(assistant.folder(host()))).to.equal(true);
      expect(assistant.folder(host()).startsWith(at.home)).to.equal(true);
      expect(assistant.ownFile === undefined).to.equal(assistant.entry !== undefined);
    });

    long('leaves nothing behind where nothing was', async () => {
      const { added, settings } = await install();
      expect(settings).to.equal(path());
      expect(added).to.deep.equal(assistant.hooks.map(({ event }) => event));
      expect(installedEvents(installDeps(), assistant)).to.deep.equal(added);
      const text = readFileSync(path(), 'utf8');
      expect((await install()).added).to.deep.equal([]);
      expect(readFileSync(path(), 'utf8')).to.equal(text);
      const removed = await uninstall();
      expect(removed).to.deep.include({ left: [], strangers: [] });
      expect(removed.shim.removed).to.equal(true);
      expect(files()).to.deep.equal([]);
    });

    it('finds its registration in a home with quotes and backslashes', async () => {
      const deps = installDeps(join(at.home, `it's "my" \\home`));
      await installHooks(deps, { assistant, dryRun: false });
      expect(installedEvents(deps, assistant)).to.have.length(assistant.hooks.length);
    });

    it('writes nothing in a dry run', async () => {
      expect((await install(true)).added).to.have.length(assistant.hooks.length);
      expect(files()).to.deep.equal([]);
      await install();
      const before = files();
      expect((await uninstall(true)).settings[0]).to.include({ removed: true });
      expect(files()).to.deep.equal(before);
    });

    const theirs = SETTINGS[id];
    if (theirs === undefined) ownFile();
    else sharedSettings(theirs);

    function sharedSettings(theirs: string): void {
      it("restores the person's own settings to the byte, edited meanwhile or not", async () => {
        put(theirs);
        await install();
        expect(readFileSync(path(), 'utf8')).to.include('steward-hook');
        await uninstall();
        expect(readFileSync(path(), 'utf8')).to.equal(theirs);
        await install();
        const edited = (text: string): string => text.replace(/"(?:model|command|theme)":/, '$& ');
        put(edited(readFileSync(path(), 'utf8')));
        await uninstall();
        expect(readFileSync(path(), 'utf8')).to.equal(edited(theirs));
      });
    }

    function ownFile(): void {
      it("leaves a file that is not steward's", async () => {
        put('mine');
        const error = await install().then(
          () => undefined,
          (caught: unknown) => caught,
        );
        expect(error).to.have.property('kind', 'conflict');
        expect((await uninstall()).left).to.deep.equal([path()]);
        expect(readFileSync(path(), 'utf8')).to.equal('mine');
      });
    }

    it('registers a command for each event, with its timeout in the right unit', async () => {
      const { unit } = RULES[id];
      await install();
      const text = readFileSync(path(), 'utf8');
      expect(text).to.include('steward-hook');
      // A plugin has no entries.
      if (unit === undefined) return;
      const { hooks } = JSON.parse(text) as { hooks: Record<string, unknown[]> };
      for (const { event, verb, timeoutSec } of assistant.hooks) {
        const flat = JSON.stringify(hooks[event]);
        const words = id === 'claude-code' ? verb : `${verb} ${id}`;
        expect(flat, event).to.match(new RegExp(`steward-hook(?:\\.cmd)?['"\\\\]* ${words}[ ";]`));
        expect(flat, event).to.match(new RegExp(`"timeout(?:Sec)?":${timeoutSec * unit}\\b`));
        expect(timeoutSec).to.be.within(1, 5);
      }
    });

    const hookDeps = (): HookDeps => ({
      clock: { now: () => NOW, monotonic: () => 0 },
      machineId: '0123456789ab',
      area: at.area,
      dayOf: () => '2026-11-20',
      env: {},
      tab: true,
      tellAssistant: true,
      onPrompt: () => 'Noted.',
    });
    const play = async ({ event, payload }: Played): Promise<string> => {
      const verb = assistant.hooks.find((hook) => hook.event === event)?.verb ?? '';
      mkdirSync(at.area.state, { recursive: true });
      const bytes = Buffer.from(JSON.stringify(payload));
      const result = await runHook(hookDeps(), { verb, assistant: id, bytes, cut: false });
      expect(result.trouble, event).to.equal(undefined);
      return result.output;
    };
    const recorded = (): WorkEvent[] => {
      const events: WorkEvent[] = [];
      if (existsSync(at.area.workEvents))
        readWorkEvents(at.area.workEvents, LOG_START, (event) => void events.push(event));
      return events;
    };

    long('understands each event that it registers', async () => {
      const played = PAYLOADS[id];
      expect(played.map(({ event }) => event)).to.have.members(assistant.hooks.map(({ event }) => event));
      for (const one of played) await play(one);
      const events = recorded();
      expect(events).to.have.length(played.length);
      const expected = {
        session: sessionKey(id, PLAYED_ID),
        assistant: id === 'claude-code' ? undefined : id,
      };
      played.forEach(({ event, records }, index) => {
        const found = { assistant: undefined, ...events[index] };
        expect(found, event).to.deep.include({ ...expected, ...records });
      });
      // On disk stands the assistant's own id.
      expect(readFileSync(at.area.workEvents, 'utf8')).to.include(`"session":"${PLAYED_ID}"`);
    });

    it('records the machine once, with the first prompt if no session start came before', async () => {
      const [start, prompt] = ['session-start', 'prompt'].map((type) =>
        PAYLOADS[id].find(({ records }) => records.type === type),
      ) as [Played, Played];
      await play(prompt);
      await play(start);
      await play(prompt);
      expect(recorded().map(({ machine }) => machine)).to.deep.equal([
        '0123456789ab',
        '0123456789ab',
        undefined,
      ]);
    });

    it('stores no text', async () => {
      for (const one of PAYLOADS[id]) await play(one);
      for (const name of readdirSync(at.area.root, { recursive: true, encoding: 'utf8' })) {
        const file = join(at.area.root, name);
        if (name.endsWith('.jsonl') || name.endsWith('.json'))
          expect(readFileSync(file, 'utf8'), name).not.to.include(PLAYED_SECRET);
      }
    });

    it('answers with what its protocol documents, and nothing else', async () => {
      const rules = RULES[id];
      for (const one of PAYLOADS[id]) {
        const output = await play(one);
        const verb = assistant.hooks.find(({ event }) => event === one.event)?.verb;
        const kind = verb === 'prompt' ? rules.prompt : verb === 'session-start' ? rules.start : '';
        const keys = output === '' ? [] : Object.keys(JSON.parse(output) as object);
        const allowed = { message: ['systemMessage'], context: ['hookSpecificOutput'], '': [] }[kind];
        expect(keys, one.event).to.deep.equal(allowed);
      }
    });

    it('tells you about a finished turn, but not about one that you interrupted', async () => {
      const left = [];
      for (const { event, payload } of PAYLOADS[id]) {
        const verb = assistant.hooks.find((hook) => hook.event === event)?.verb ?? '';
        if (verb !== 'stop') continue;
        const bytes = Buffer.from(JSON.stringify(payload));
        left.push([event, (await runHook(hookDeps(), { verb, assistant: id, bytes, cut: false })).left]);
      }
      expect(left).to.have.length.of.at.least(1);
      for (const [event, task] of left)
        expect(task, String(event)).to.equal(event === 'Interrupt' ? null : 'turn-ended');
    });

    it('ignores unknown events and fields, and reads cut JSON', async () => {
      const [first] = PAYLOADS[id].filter(({ records }) => records.type === 'tool-before');
      const { payload, event } = first as Played;
      await play({
        event,
        payload: { ...payload, hook_event_name: 'SomethingNew', more: [{}] },
        records: {},
      });
      const verb = 'tool';
      const bytes = Buffer.from(
        `${JSON.stringify(payload).slice(0, -1)},"tool_response":"${'x'.repeat(100)}`,
      );
      await runHook(hookDeps(), { verb, assistant: id, bytes, cut: true });
      expect(recorded().map(({ type }) => type)).to.deep.equal(['tool-after', 'tool-before']);
    });
  });
}
