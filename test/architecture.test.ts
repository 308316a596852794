import { readFileSync, readdirSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';

import {
  appExportsIn,
  cyclesIn,
  duplicateTypesIn,
  importersOf,
  longFunctionsIn,
  privateImportsIn,
  violationsIn,
  workingLinesIn,
  type SourceFile,
} from './helpers/architecture';
import { long } from './helpers/long';

const SRC = join(__dirname, '..', 'src');

/**
 * The most working lines of all of src. Small is a feature: raise this only for a new capability that the
 * README names, and say in the commit which one. A room has at most this share of the lines.
 */
const MOST_LINES = 46_500;
const MOST_SHARE = 0.15;

/** What app still exports beside openers, routes and jobs. The list only shrinks. */
const APP_EXPORTS: ReadonlySet<string> = new Set([
  'lib/app/agents.ts exports agentSettings',
  'lib/app/capture.ts exports captureDeps',
  'lib/app/capture.ts exports drainWork',
  'lib/app/capture.ts exports planOfPrompt',
  'lib/app/capture.ts exports planOfSessionEnd',
  'lib/app/capture.ts exports evidenceHere',
  'lib/app/context.ts exports createContext',
  'lib/app/context.ts exports productRoot',
  'lib/app/context.ts exports installerDeps',
  'lib/app/schedule.ts exports schedulerOf',
  'lib/app/schedule.ts exports schedulerWith',
  'lib/app/schedule.ts exports DAEMON_SCHEDULER',
  'lib/app/schedule.ts exports currentScheduler',
  'lib/app/sense.ts exports setClassification',
  'lib/app/sense.ts exports captureNow',
  'lib/app/sense.ts exports setUpSense',
  'lib/app/sessions.ts exports sessionReader',
  'lib/app/sessions.ts exports sessionsOn',
  'lib/app/shared-area.ts exports prepareArea',
  'lib/app/speech.ts exports voiceOf',
  'lib/app/speech.ts exports speechSettings',
  'lib/app/sweep.ts exports runSweep',
  'lib/app/context.ts exports zonedNow',
  'lib/app/sync-git.ts exports exchangeNow',
  'lib/app/sync-git.ts exports exchangeThrough',
  'lib/app/sync.ts exports publishNow',
  'lib/app/sync.ts exports publishAfter',
  'lib/app/triggers.ts exports triggersOnce',
  'lib/app/surroundings.ts exports presenceOf',
  'lib/app/work.ts exports yourName',
]);

/** The places where folders, repositories and session files enter. Nobody else asks what is restricted. */
const DOORS = [
  'lib/app/capture.ts',
  'lib/app/hold.ts',
  'lib/app/sharing.ts',
  'lib/app/sweep.ts',
  'lib/assistant/hide.ts',
  'lib/assistant/hook-event.ts',
  'lib/assistant/transcripts.ts',
  'lib/sense/backfill.ts',
  'lib/sense/checks.ts',
  'lib/sense/git/authorship.ts',
  'lib/sense/git/index.ts',
  'lib/sense/pane/place.ts',
  'lib/sessions/artifact.ts',
  'lib/sessions/unseen-artifact.ts',
  'lib/usage/collect.ts',
];
/** Who knows that a session has no name: the hook, what folds and describes sessions, and who takes or passes a slug or a name. */
const NAMELESS = [
  'lib/app/hold.ts',
  'lib/app/surroundings.ts',
  'lib/assistant/follow-up.ts',
  'lib/assistant/hide.ts',
  'lib/assistant/hook-event.ts',
  'lib/daemon/program-sources.ts',
  'lib/notify/message.ts',
  'lib/sessions/artifact.ts',
  'lib/sessions/describe.ts',
  'lib/sessions/fold.ts',
  'lib/sessions/rename.ts',
  'lib/sessions/state.ts',
  'lib/sessions/unseen-artifact.ts',
  'lib/sync/live.ts',
  'lib/sync/session-names.ts',
  'lib/work/capture/plan.ts',
];

describe('architecture', () => {
  const files = sourceFiles(SRC);

  it('finds the sources', () => {
    expect(files.length).to.be.greaterThan(20);
    expect(files.map(({ path }) => path)).to.include('lib/errors.ts');
  });

  long('imports only what the table allows, and touches the machine only in platform', () => {
    expect(files.flatMap(violationsIn)).to.deep.equal([]);
  });

  long('has no cycles', () => {
    expect(cyclesIn(files)).to.deep.equal([]);
  });

  it('exports from app only what opens a feature, routes and jobs', () => {
    const found = files.flatMap((file) => appExportsIn(file));
    expect(found.filter((name) => !APP_EXPORTS.has(name))).to.deep.equal([]);
    expect([...APP_EXPORTS].filter((name) => !found.includes(name))).to.deep.equal([]);
    const text = `export const openX = 1; export function xRoute() {} export type T = 1; export const y = 1;`;
    expect(appExportsIn({ path: 'lib/app/x.ts', text })).to.deep.equal(['lib/app/x.ts exports y']);
  });

  long('stays small, and no room outgrows the others', () => {
    const rooms = new Map<string, number>();
    for (const { room, lines } of files.map(workingLinesIn)) rooms.set(room, (rooms.get(room) ?? 0) + lines);
    const total = [...rooms.values()].reduce((sum, lines) => sum + lines, 0);
    expect(total).to.be.within(MOST_LINES / 2, MOST_LINES);
    expect([...rooms].filter(([, lines]) => lines > total * MOST_SHARE)).to.deep.equal([]);
    const text = `import a from 'a';\n\n/**\n * Why.\n */\nconst b = [\n  // c\n  a,\n];\n`;
    expect(workingLinesIn({ path: 'lib/work/x.ts', text })).to.deep.equal({ room: 'work', lines: 2 });
  });

  long('imports no private file of a dependency', () => {
    const library = (name: string): string => join(SRC, '..', 'node_modules', name, 'package.json');
    const hasExports = (name: string): boolean =>
      'exports' in JSON.parse(readFileSync(library(name), 'utf8'));
    expect(files.flatMap((file) => privateImportsIn(file, hasExports))).to.deep.equal([]);
    const text = `import 'a'; import '@b/c'; await import('a/dist/d.js'); await import('@b/c/d');`;
    const found = privateImportsIn({ path: 'lib/x.ts', text }, (name) => name === '@b/c');
    expect(found).to.deep.equal(['lib/x.ts imports a/dist/d.js']);
  });

  long('asks at the door what is restricted, and nowhere behind it', () => {
    expect(importersOf(files, 'lib/sessions/restricted.ts')).to.deep.equal(DOORS);
    expect(importersOf(files, 'lib/sessions/slug.ts', 'isNameless')).to.deep.equal(NAMELESS);
    const asking = { path: 'lib/work/x.ts', text: `void import('../sessions/restricted');` };
    expect(importersOf([asking], 'lib/sessions/restricted.ts')).to.deep.equal(['lib/work/x.ts']);
  });

  long('exports each type name once', () => {
    expect(duplicateTypesIn(files)).to.deep.equal([]);
    const text = `export interface Place {}\ninterface Own {}`;
    const twice = ['lib/a.ts', 'lib/b.ts'].map((path) => ({ path, text }));
    expect(duplicateTypesIn(twice)).to.deep.equal(['Place: lib/a.ts lib/b.ts']);
  });

  long('has no function of more than 60 lines', () => {
    expect(files.flatMap((file) => longFunctionsIn(file))).to.deep.equal([]);
    const text = `const f = () => {\n${'g();\n'.repeat(60)}};`;
    expect(longFunctionsIn({ path: 'lib/x.ts', text })).to.deep.equal(['lib/x.ts:1 has 62 lines']);
  });

  it('makes folders in one place only, which comes to an end everywhere', () => {
    const making = files.filter(({ text }) => /\bmkdir(?:Sync)?\(/.test(text)).map(({ path }) => path);
    expect(making).to.deep.equal(['lib/platform/files/folder.ts']);
  });

  it('keeps sense off the network: nothing that it imports is an HTTP client', () => {
    const texts = new Map(files.map(({ path, text }) => [path, text]));
    const reached = new Set<string>();
    const libraries = new Set<string>();
    const follow = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const { fileName } of ts.preProcessFile(texts.get(path) ?? '', true, true).importedFiles) {
        const base = posix.join(posix.dirname(path), fileName);
        const target = [`${base}.ts`, `${base}/index.ts`].find((file) => texts.has(file));
        if (!fileName.startsWith('.')) libraries.add(fileName.replace(/^node:/, ''));
        else if (target !== undefined) follow(target);
      }
    };
    for (const { path } of files) if (path.startsWith('lib/sense/')) follow(path);
    expect([...libraries]).to.include('fs');
    const clients = ['http', 'https', 'http2', 'tls', 'dgram', 'undici', 'ws', '@octokit/core'];
    expect(clients.filter((name) => libraries.has(name))).to.deep.equal([]);
  });

  describe('catches', () => {
    const caught: [rule: string, path: string, text: string, message: RegExp][] = [
      [
        'a feature that imports a feature',
        'lib/sense/x.ts',
        `import { a } from '../work/b';`,
        /sense may not import work/,
      ],
      ['the same by import()', 'lib/sense/x.ts', `void import('../work/b');`, /sense may not import work/],
      ['the same by re-export', 'lib/sense/x.ts', `export * from '../work/b';`, /sense may not import work/],
      [
        'the same by require',
        'lib/sense/x.ts',
        `const a = require('../work/b');`,
        /sense may not import work/,
      ],
      [
        'the same as a type',
        'lib/sense/x.ts',
        `import type { A } from '../notify/b';`,
        /sense may not import notify/,
      ],
      [
        'a type by import()',
        'lib/sense/x.ts',
        `let a: import('../notify/b').A;`,
        /sense may not import notify/,
      ],
      [
        'platform that imports a feature',
        'lib/platform/x.ts',
        `import '../sense/b';`,
        /platform may not import sense/,
      ],
      [
        'errors that imports anything',
        'lib/errors.ts',
        `import './platform/clock';`,
        /errors may not import platform/,
      ],
      [
        'a value of config in a feature',
        'lib/sense/x.ts',
        `import { load } from '../config/load';`,
        /types of config/,
      ],
      [
        'the edge in a library',
        'lib/goals/x.ts',
        `import { a } from '../cli/output';`,
        /goals may not import cli/,
      ],
      [
        'two features in a command',
        'commands/a/x.ts',
        `import '../../lib/sense/a'; import '../../lib/work/b';`,
        /one feature/,
      ],
      ['node:fs outside platform', 'lib/sense/x.ts', `import { readFileSync } from 'node:fs';`, /node:fs/],
      ['fs without its prefix', 'lib/sense/x.ts', `import fs from 'fs/promises';`, /fs\/promises/],
      ['child_process', 'lib/cli/x.ts', `import 'node:child_process';`, /node:child_process/],
      [
        'child_process beside the one file that starts processes',
        'lib/platform/x.ts',
        `const { execFile } = await import('node:child_process');`,
        /platform\/process\/spawn\.ts/,
      ],
      ['node:net', 'lib/notify/x.ts', `await import('node:net');`, /node:net/],
      ['process.env', 'lib/cli/x.ts', `const a = process.env['A'];`, /process\.env/],
      ['process.env by destructuring', 'lib/cli/x.ts', `const { env } = process;`, /process\.env/],
      ['process["env"]', 'lib/cli/x.ts', `const a = process['env'];`, /process\.env/],
      ['Date.now', 'lib/sense/x.ts', `const a = Date.now();`, /Date\.now/],
      ['new Date()', 'lib/sense/x.ts', `const a = new Date();`, /new Date\(\)/],
      ['new Date(x)', 'lib/sense/x.ts', `const a = new Date(5);`, /new Date\(\)/],
      ['a utils folder', 'lib/sense/utils/x.ts', ``, /utils/],
      ['a folder that the table does not know', 'lib/misc/x.ts', ``, /not in the table/],
      [
        'a heavy library that is imported at once',
        'lib/sense/x.ts',
        `import { parse } from 'yaml';`,
        /inside the function/,
      ],
    ];
    for (const [rule, path, text, message] of caught) {
      it(rule, () => {
        const found = violationsIn({ path, text });
        expect(found).to.have.length(1);
        expect(found[0]).to.match(message);
      });
    }

    it('a cycle of types', () => {
      const cycle = cyclesIn([
        { path: 'lib/sense/a.ts', text: `import type { B } from './b';` },
        { path: 'lib/sense/b.ts', text: `let a: import('./a').A;` },
      ]);
      expect(cycle).to.deep.equal(['lib/sense/a.ts → lib/sense/b.ts → lib/sense/a.ts']);
    });

    it('a cycle', () => {
      const cycle = cyclesIn([
        { path: 'lib/sense/a.ts', text: `import './b';` },
        { path: 'lib/sense/b.ts', text: `import { c } from './c/index';` },
        { path: 'lib/sense/c/index.ts', text: `export { a } from '../a';` },
      ]);
      expect(cycle).to.deep.equal([
        'lib/sense/a.ts → lib/sense/b.ts → lib/sense/c/index.ts → lib/sense/a.ts',
      ]);
    });
  });

  it('lets through what is allowed, comments and strings included', () => {
    const text = `
      // import '../work/b'; process.env; Date.now()
      import type { SenseConfig } from '../config/schema';
      import type { Document } from 'yaml';
      import { StewardError } from '../errors';
      import { toIso } from '../platform/clock';
      const shown = "import fs from 'node:fs'; new Date()";
      export async function f() { const { parse } = await import('yaml'); return [parse, shown, toIso, StewardError]; }
      export type T = [SenseConfig, Document];
    `;
    expect(violationsIn({ path: 'lib/sense/x.ts', text })).to.deep.equal([]);
  });
});

function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path))
    .map((path) => ({ path: relative(SRC, path).split(sep).join('/'), text: readFileSync(path, 'utf8') }));
}
