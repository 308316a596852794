import { readFileSync, readdirSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';

import { cyclesIn, longFunctionsIn, violationsIn, type SourceFile } from './helpers/architecture';

const SRC = join(__dirname, '..', 'src');

describe('architecture', () => {
  const files = sourceFiles(SRC);

  it('finds the sources', () => {
    expect(files.length).to.be.greaterThan(20);
    expect(files.map(({ path }) => path)).to.include('lib/errors.ts');
  });

  it('imports only what the table allows, and touches the machine only in platform', () => {
    expect(files.flatMap(violationsIn)).to.deep.equal([]);
  });

  it('has no cycles', () => {
    expect(cyclesIn(files)).to.deep.equal([]);
  });

  it('has no function of more than 60 lines', () => {
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
