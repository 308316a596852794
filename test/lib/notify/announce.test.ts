import { expect } from 'chai';
import fc from 'fast-check';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';

import { announce, workflowExists, type AnnounceInput } from '../../../src/lib/notify/announce';
import { completionLine } from '../../../src/lib/notify/triggers';
import { quickestMs } from '../../helpers/measured';
import { scratch } from '../../helpers/scratch';

const ask = (request: string, more: Partial<AnnounceInput> = {}) =>
  announce({ request, handling: 'task', isWorkflow: () => true, ...more });

describe('notify: announcements', () => {
  const cases: [request: string, kind: string, line: string | null][] = [
    ['what time is it in Tokyo?', 'question', 'Looking up time in Tokyo'],
    ['Where is the config loaded?', 'question', 'Finding config loaded'],
    ['is the server up?', 'question', 'Checking server up'],
    ['can you check the disk space', 'question', 'Checking disk space'],
    ['Find all users of parseDuration', 'question', 'Finding all users of parseDuration'],
    ['Please fix the login bug in the auth service', 'command', 'Fixing login bug in auth'],
    ['create a new branch', 'command', 'Creating new branch'],
    ['could you add a test for the parser, and run it', 'command', 'Creating test for parser'],
    ['Rename the module', 'command', 'Updating module'],
    ['deploy the site to staging', 'command', 'Updating site to staging'],
    ['debug the flaky test', 'investigation', 'Debugging flaky test'],
    ['Why does the build fail?', 'investigation', 'Investigating build fail'],
    ['analyse last month of logs', 'investigation', 'Analyzing last month of logs'],
    ['compare vite and esbuild', 'investigation', 'Analyzing vite and esbuild'],
    ['research the history of sundials', 'research', 'Researching history of sundials'],
    ['look into GNOME extensions', 'research', 'Looking into GNOME extensions'],
    ['explore the options for sync', 'research', 'Exploring options for sync'],
    ['Hi!', 'conversation', null],
    ['thanks, that was great', 'conversation', null],
    ['ok', 'conversation', null],
    ['how are you?', 'conversation', null],
    ['yes', 'conversation', null],
    ['Good morning', 'conversation', null],
    ['', 'conversation', null],
    ['\u001b[31m', 'conversation', null],
  ];
  for (const [request, kind, line] of cases) {
    it(`${JSON.stringify(request)} → ${line ?? 'nothing'}`, () => {
      expect(ask(request)).to.include({ kind, line });
    });
  }

  it('begin with a gerund and have less than six words', () => {
    const gerund: Record<string, RegExp> = {
      question: /^(?:Checking|Looking up|Finding)\b/,
      command: /^(?:Fixing|Creating|Updating)\b/,
      investigation: /^(?:Investigating|Debugging|Analyzing)\b/,
      research: /^(?:Researching|Exploring|Looking into)\b/,
    };
    const verbs = fc.constantFrom(
      'fix',
      'why does',
      'research',
      'what is',
      'please update',
      'debug',
      'find',
      'Look into',
      '',
    );
    fc.assert(
      fc.property(verbs, fc.lorem({ maxCount: 30 }), fc.string(), (verb, words, noise) => {
        const { kind, line } = ask(`${verb} ${words} ${noise}`);
        if (line === null) return;
        expect(line.split(' ').length).to.be.lessThan(6);
        expect(line).to.match(gerund[kind] ?? /^$/);
        expect(line).to.not.match(/[\p{Cc}]/u);
      }),
    );
  });

  it('are not made for direct skills', () => {
    for (const handling of ['direct-skill', 'utility', 'sub-workflow'] as const) {
      expect(ask('fix the login bug', { handling, skill: 'Git', workflow: 'Push' }).line).to.equal(null);
    }
    expect(ask('fix the login bug', { skill: 'Git' })).to.include({ line: null, reason: 'skills without a workflow are not announced' }); // prettier-ignore
    expect(ask('thanks!', { skill: 'Git', workflow: 'Push' }).line).to.equal(null);
  });

  it('name only an existing workflow', () => {
    const given = { skill: 'Writing', workflow: 'Newsletter' };
    expect(ask('write the newsletter', given).line).to.equal('Executing the Newsletter workflow within the Writing skill'); // prettier-ignore
    const invented = ask('write the newsletter', { ...given, isWorkflow: () => false });
    expect(invented).to.include({ line: 'Creating newsletter', workflow: null });
    expect(invented.reason).to.equal('workflow Newsletter not found (skill Writing)');
    expect(ask('write the newsletter', { workflow: 'Newsletter' }).line).to.equal('Creating newsletter');
  });

  describe('a workflow', () => {
    const folder = scratch();
    it('is a regular file in the workflows folder', () => {
      mkdirSync(folder.path('Writing', 'workflows'), { recursive: true });
      writeFileSync(folder.path('Writing', 'workflows', 'Newsletter.md'), '# N');
      writeFileSync(folder.path('Writing', 'Hidden.md'), '# H');
      symlinkSync(folder.path('Writing', 'Hidden.md'), folder.path('Writing', 'workflows', 'Linked.md'));
      mkdirSync(folder.path('Writing', 'workflows', 'Folder.md'));
      const is = (skill: string, workflow: string): boolean => workflowExists(folder.path(), skill, workflow);
      expect(is('Writing', 'Newsletter')).to.equal(true);
      for (const [skill, workflow] of [
        ['Writing', 'Invented'],
        ['Writing', '../Hidden'],
        ['Writing', 'Linked'],
        ['Writing', 'Folder'],
        ['..', 'Newsletter'],
        ['Writing/workflows/..', 'Newsletter'],
        ['', ''],
      ] as const) {
        expect(is(skill, workflow), `${skill} ${workflow}`).to.equal(false);
      }
    });
  });
});

describe('notify: the voice line of a response', () => {
  it('is the last line that begins with the name', () => {
    const response = 'I changed two files.\n\n- a\n- b\n\n🗣️ Kai: Fixed the login, all tests pass.\n';
    expect(completionLine(response, 'Kai')).to.equal('Fixed the login, all tests pass.');
    expect(completionLine('**COMPLETED:** Moved the *notes* folder.', 'DA')).to.equal(
      'Moved the *notes* folder.',
    );
    expect(completionLine('> Voice: done', 'DA')).to.equal('done');
    expect(completionLine('DA: Set.\n\n```yaml\nvoice: alloy\n```\nThat is all.', 'DA')).to.equal('Set.');
    expect(completionLine('Use this:\n~~~\nCompleted: 3 of 4\n~~~\n', 'DA')).to.equal(undefined);
    expect(completionLine('> Voice: done\n\nDA: really done', 'DA')).to.equal('really done');
  });

  it('is found in a long response in linear time', () => {
    const hard = [`${' *'.repeat(50_000)}x`, '-'.repeat(100_000), `Kai${'_'.repeat(100_000)}`];
    for (const line of hard) {
      const ms = quickestMs(3, () => completionLine(`${line}\n${line}`, 'Kai'));
      expect(ms, line.slice(0, 10)).to.be.at.most(50);
      expect(completionLine(`${line}\nKai: Done.`, 'Kai')).to.equal('Done.');
    }
  });

  it('is missing from a conversation', () => {
    for (const response of [
      'Sure, happy to help.',
      '',
      'The file says: Kai',
      'Completed',
      'Kai:',
      'Kaiser: no',
    ]) {
      expect(completionLine(response, 'Kai'), response).to.equal(undefined);
    }
  });

  it('is one short line without controls', () => {
    expect(completionLine(`Kai: \u001b[31mred\u001b[0m${'x'.repeat(900)}`, 'Kai')).to.match(/^redx{296}…$/);
    fc.assert(
      fc.property(fc.string(), fc.string(), (response, name) => {
        const line = completionLine(`${response}\nCompleted: ${response}`, name);
        if (line !== undefined) expect(line).to.not.match(/[\p{Cc}\n]/u);
      }),
    );
  });
});
