import { expect } from 'chai';
import fc from 'fast-check';

import { claudeCode } from '../../../src/lib/assistant/claude-code';
import { addHooks, eventsWithHooks } from '../../../src/lib/assistant/settings-hooks';
import { removeHooks } from '../../../src/lib/assistant/settings-hooks';
import { shimCommands } from '../../../src/lib/assistant/shim';
import { settings, writeJson, writing } from '../../helpers/settings-texts';
import { long } from '../../helpers/long';

const SHIM = "/home/ann o'neil/.steward/bin/steward-hook";
const host = { platform: 'linux' as const, home: "/home/ann o'neil" };
const commands = shimCommands(SHIM, host);
const { hooks } = claudeCode;
const add = (source: string | undefined) => addHooks(source, 'settings.json', claudeCode, commands);
const remove = (source: string, created: readonly string[] | undefined) =>
  removeHooks(source, 'settings.json', { assistant: claudeCode, commands, created });

describe('assistant: entries in a settings file', () => {
  it('adds one entry for each event, with what each needs', () => {
    const { text, events, created } = add(undefined);
    expect(events).to.deep.equal(hooks.map(({ event }) => event));
    expect(created[0]).to.equal('hooks');
    const table = (JSON.parse(text) as { hooks: Record<string, unknown> }).hooks;
    expect(table['Stop']).to.deep.equal([
      {
        hooks: [
          {
            type: 'command',
            command: `'/home/ann o'\\''neil/.steward/bin/steward-hook' stop || :`,
            timeout: 5,
          },
        ],
      },
    ]);
    expect(table['PreToolUse']).to.have.nested.property('[0].matcher', '*');
    expect(table['SessionEnd']).to.have.nested.property('[0].hooks[0].timeout', 1);
    expect(eventsWithHooks(text, 'settings.json', claudeCode, commands)).to.deep.equal(events);
  });

  long('changes nothing the second time', () => {
    fc.assert(
      fc.property(settings, writing, (value, how) => {
        const once = add(writeJson(value, how)).text;
        expect(add(once)).to.deep.equal({ text: once, events: [], created: [] });
      }),
    );
  });

  long('keeps all that was there: install, then uninstall, is no change at all', () => {
    fc.assert(
      fc.property(settings, writing, (value, how) => {
        const source = writeJson(value, how);
        const { text, created, events } = add(source);
        expect(events).to.have.length(hooks.length);
        const removed = remove(text, created);
        expect(removed.entries).to.equal(hooks.length);
        expect(removed.left).to.deep.equal([]);
        expect(removed.text).to.equal(source);
      }),
      { numRuns: 100 },
    );
  });

  long('leaves no trace of ours and all of theirs, whatever was edited in between', () => {
    fc.assert(
      fc.property(settings, writing, writing, fc.gen(), (value, before, after, gen) => {
        const { text, created } = add(writeJson(value, before));
        const content = JSON.parse(text.replace('\ufeff', '')) as Content;
        const edited = edit(content, gen);
        const source = writeJson(edited, after);
        const removed = remove(source, created);
        expect(removed.text).to.not.include('bin/steward-hook');
        expect(JSON.parse(removed.text.replace('\ufeff', ''))).to.deep.equal(
          JSON.parse(JSON.stringify(theirsOf(edited, created))),
        );
        expect(removed.text.startsWith(after.mark) && removed.text.endsWith(after.end)).to.equal(true);
        // Nothing is left to do.
        expect(remove(removed.text, created)).to.include({ text: removed.text, entries: 0 });
      }),
      { numRuns: 200 },
    );
  });

  long('takes out what it finds where nobody knows what was added', () => {
    fc.assert(
      fc.property(settings, writing, (value, how) => {
        const removed = remove(add(writeJson(value, how)).text, undefined).text;
        expect(removed).to.not.include('bin/steward-hook');
        expect(JSON.parse(removed.replace('\ufeff', '')), removed).to.deep.equal(
          JSON.parse(JSON.stringify(withoutEmptied(value))),
        );
      }),
    );
  });

  it('knows its commands again in any spelling, and no others', () => {
    const ours = [
      commands.commandFor('stop'),
      `'/home/ann o'\\''neil/.steward/bin/steward-hook' stop`,
      `"${SHIM}" stop`,
      '~/.steward/bin/steward-hook stop',
      '"$HOME/.steward/bin/steward-hook" stop --no-tab',
      '"$HOME"/.steward/bin/steward-hook stop >/dev/null 2>&1 || true',
      '  ${HOME}/.steward/bin/steward-hook stop;',
    ];
    for (const command of ours) expect(commands.verbOf(command), command).to.equal('stop');
    const theirs = [
      `${commands.commandFor('stop')}; say done`,
      '~/.steward/bin/steward-hook stop && notify-send done',
      '~/.steward/bin/steward-hook stop | tee log',
      '~/.steward/bin/steward-hook stop $(date)',
      'timeout 5 ~/.steward/bin/steward-hook stop',
    ];
    for (const command of theirs) {
      expect(commands.verbOf(command), command).to.equal(undefined);
      expect(commands.isMentionedIn(command), command).to.equal(true);
    }
    for (const command of [
      '~/.steward/bin/steward-hook2 stop',
      '/usr/bin/steward-hook stop',
      'echo steward-hook',
    ]) {
      expect(commands.verbOf(command), command).to.equal(undefined);
    }
  });

  it('leaves a command that a person made of ours, and tells of it', () => {
    const mine = '~/.steward/bin/steward-hook stop && notify-send done';
    const source = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: mine }] }] } });
    const added = add(source);
    // A second one would have each stop counted twice.
    expect(added.events).to.have.length(11).and.not.to.include('Stop');
    expect(remove(added.text, added.created)).to.deep.include({ text: source, left: [mine] });
  });

  it('works on the list that counts where a key stands twice', () => {
    const source = '{"hooks": {"Stop": []}, "hooks": {"Stop": [], "Stop": [ ]}}';
    const added = add(source);
    const read = JSON.parse(added.text) as { hooks: Record<string, unknown[]> };
    expect(Object.keys(read.hooks)).to.have.length(hooks.length);
    expect(read.hooks['Stop']).to.have.length(1);
    expect(JSON.parse(remove(added.text, added.created).text)).to.deep.equal({ hooks: { Stop: [] } });
  });

  it('refuses what is no JSON or has another shape, and says where', () => {
    const cases: [string, RegExp][] = [
      ['{', /line 1, column 2/],
      ['{\n  // mine\n  "a": 1\n}', /line 2, column 3: invalid comment token/],
      ['{"a": 1,}', /line 1, column 9/],
      ['[]', /is not an object/],
      ['{"hooks": []}', /hooks is not an object keyed by event/],
      ['{"hooks": {"Stop": {}}}', /hooks\.Stop is not a list/],
    ];
    for (const [source, message] of cases) {
      expect(() => add(source), source)
        .to.throw(message)
        .with.property('kind', 'config');
    }
  });
});

interface Hook {
  command?: unknown;
}
interface Group {
  matcher?: string;
  hooks?: Hook[];
}
interface Content {
  hooks?: Record<string, Group[]>;
}

/** A person at work: reorders, moves, adds beside, renames, empties. */
function edit(content: Content, gen: fc.GeneratorValue): Content {
  const table = { ...content.hooks };
  const names = Object.keys(table);
  const pick = (): string => names[gen(fc.nat, { max: names.length - 1 })] ?? 'Stop';
  const ownFirst = (): Hook => ({ command: commands.commandFor('stop') });
  for (let step = gen(fc.nat, { max: 8 }); step > 0; step -= 1) {
    const groups = [...(table[pick()] ?? [])];
    const name = pick();
    switch (gen(fc.nat, { max: 7 })) {
      case 0: // other groups of a person's own beside ours
        table[name] = [{ matcher: 'Bash', hooks: [{ command: 'mine' }] }, ...(table[name] ?? [])];
        break;
      case 1: // the groups of one event also in another
        table[name] = [...(table[name] ?? []), ...groups];
        break;
      case 2: // in another order
        table[name] = [...(table[name] ?? [])].reverse();
        break;
      case 3: // all in one group
        table[name] = [{ matcher: '*', hooks: (table[name] ?? []).flatMap((group) => group.hooks ?? []) }];
        break;
      case 4: // an own hook beside ours in our group
        table[name] = (table[name] ?? []).map((group) => ({
          ...group,
          hooks: [{ command: 'before' }, ...(group.hooks ?? []), { command: 'after' }],
        }));
        break;
      case 5: // another matcher, another spelling
        table[name] = [{ matcher: 'Edit', hooks: [{ command: '~/.steward/bin/steward-hook stop' }] }];
        break;
      case 6:
        table[name] = [];
        break;
      default: // ours twice
        table[name] = [...(table[name] ?? []), { hooks: [ownFirst()] }];
    }
  }
  const order = gen(fc.shuffledSubarray<string>, Object.keys(table), {
    minLength: Object.keys(table).length,
  });
  return { ...content, hooks: Object.fromEntries(order.map((name) => [name, table[name] ?? []])) };
}

/** What has to be left: said again in the simplest way, on the value and not on its text. */
function theirsOf(content: Content, created: readonly string[]): Content {
  const isOurs = ({ command }: Hook): boolean =>
    typeof command === 'string' && command.includes('.steward/bin/steward-hook');
  const table = Object.entries(content.hooks ?? {}).flatMap(([name, groups]) => {
    const kept = groups.flatMap((group): Group[] => {
      const list = group.hooks?.filter((hook) => !isOurs(hook));
      const isBare = Object.keys(group).every((key) => key === 'matcher' || key === 'hooks');
      if (isBare && list?.length === 0 && group.hooks?.some(isOurs) === true) return [];
      return [list === undefined ? group : { ...group, hooks: list }];
    });
    return kept.length === 0 && created.includes(`hooks.${name}`) ? [] : [[name, kept] as const];
  });
  const rest: Record<string, unknown> = { ...content };
  delete rest['hooks'];
  if (table.length === 0 && created.includes('hooks')) return rest as Content;
  const keys = Object.keys(content).map((key) => [
    key,
    key === 'hooks' ? Object.fromEntries(table) : content[key as 'hooks'],
  ]);
  return Object.fromEntries(keys) as Content;
}

/** Lists that were empty before cannot be told from those that we made. */
function withoutEmptied(value: Record<string, unknown>): Record<string, unknown> {
  const table = value['hooks'] as Record<string, unknown[]> | undefined;
  if (table === undefined) return value;
  const events: readonly string[] = hooks.map(({ event }) => event);
  const kept = Object.entries(table).filter(([name, list]) => list.length > 0 || !events.includes(name));
  const rest = { ...value };
  delete rest['hooks'];
  return kept.length === 0 ? rest : { ...value, hooks: Object.fromEntries(kept) };
}
