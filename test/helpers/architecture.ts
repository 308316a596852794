import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import ts from 'typescript';

export interface SourceFile {
  /** Relative to src, with slashes. */
  path: string;
  text: string;
}

const FEATURES = [
  'sense',
  'inbox',
  'work',
  'notify',
  'agents',
  'schedule',
  'assistant',
  'report',
  'shell',
  'usage',
  'sync',
];
const BASE = ['platform', 'errors', 'sessions', 'goals'];
const INNER = [...BASE, 'config', 'time', ...FEATURES];
const ROOMS = [...INNER, 'daemon', 'app', 'doctor', 'setup', 'demo', 'mcp', 'cli'];

/** Which part may import which (ARCHITECTURE.md); every part may import itself. `config:types`: its types only. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  platform: ['errors'],
  config: ['platform', 'errors'],
  sessions: ['config:types', 'platform', 'errors'],
  goals: ['config:types', 'platform', 'errors', 'sessions'],
  ...Object.fromEntries(FEATURES.map((feature) => [feature, [...BASE, 'config:types']])),
  time: [...BASE, 'config:types'],
  sense: [...BASE, 'config:types', 'time'],
  report: [...BASE, 'config:types', 'time'],
  sync: [...BASE, 'config:types', 'time', 'usage:types'],
  daemon: INNER,
  app: [...INNER, 'daemon'],
  doctor: [...INNER, 'daemon'],
  setup: [...INNER, 'daemon', 'app', 'doctor'],
  demo: [...INNER, 'app'],
  mcp: [...INNER, 'app'],
  cli: ROOMS,
  commands: ROOMS,
  /** The entries: src/*.ts. */
  entry: [...ROOMS, 'commands'],
};

/** Node's modules that reach the machine; pure ones (path, crypto, util) are free. */
const MACHINE_MODULES = [
  'fs',
  'fs/promises',
  'child_process',
  'net',
  'http',
  'https',
  'http2',
  'dgram',
  'tls',
];

/** The one file that starts processes, since it looks programs up without the current folder. */
const SPAWNS = 'lib/platform/process/spawn.ts';

/** Loaded inside the function that uses them, so that only the runs that need them pay. */
const HEAVY = [
  'x11',
  'yaml',
  'cosmiconfig',
  'koffi',
  'undici',
  'listr2',
  '@homebridge/dbus-native',
  'chrono-node/en',
  '@octokit/core',
  'eventsource-parser',
  '@modelcontextprotocol/sdk/server/index.js',
];

/** Files that a rule does not hold for, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // Only isIP, which looks at a string.
  'lib/config/leaf.ts': [`imports node:net: that is platform's`],
  // The file of a bundle of its own, which is loaded by import().
  'lib/mcp/sdk.ts': [
    'imports @modelcontextprotocol/sdk/server/index.js at once: import it inside the function that uses it',
  ],
  'lib/work/host/octokit.ts': ['imports @octokit/core at once: import it inside the function that uses it'],
};

interface Import {
  name: string;
  typeOnly: boolean;
  lazy: boolean;
}

/** What a file does against the rules of the house, one line each. */
export function violationsIn(file: SourceFile): string[] {
  const part = partOf(file.path);
  const may = MAY_IMPORT[part];
  if (may === undefined) return [`${file.path}: the folder ${part} is not in the table`];
  const source = parse(file);
  const found: string[] = [];
  if (/(^|\/)(utils?|helpers?|common|misc)(\/|\.ts$)/.test(file.path)) {
    found.push('is in a folder of utils: give it the name of what it does');
  }
  const features = new Set<string>();
  for (const wanted of importsOf(source)) {
    if (!wanted.name.startsWith('.')) {
      found.push(...libraryViolations(file.path, part, wanted));
      continue;
    }
    const target = partOf(posix.join(posix.dirname(file.path), wanted.name));
    if (target === part || wanted.name.endsWith('.json')) continue;
    if (FEATURES.includes(target)) features.add(target);
    if (may.includes(target) || (wanted.typeOnly && may.includes(`${target}:types`))) continue;
    found.push(
      may.includes(`${target}:types`)
        ? `${part} may import only types of ${target}, not ${wanted.name}`
        : `${part} may not import ${target} (${wanted.name})`,
    );
  }
  if (part === 'commands' && features.size > 1) {
    found.push(`a command belongs to one feature, not to ${[...features].join(' and ')}`);
  }
  if (part !== 'platform') found.push(...machineUses(source, part === 'config'));
  const excepted = EXCEPTIONS[file.path] ?? [];
  return found.filter((what) => !excepted.includes(what)).map((what) => `${file.path}: ${what}`);
}

/** The functions of a file that are longer than a screen, `lib/x.ts:12 has 70 lines`. */
export function longFunctionsIn(file: SourceFile, most = 60): string[] {
  const source = parse(file);
  const found: string[] = [];
  walk(source, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    const [first, last] = [node.getStart(source), node.getEnd()].map(
      (at) => source.getLineAndCharacterOfPosition(at).line,
    ) as [number, number];
    const lines = last - first + 1;
    if (lines > most) found.push(`${file.path}:${first + 1} has ${lines} lines`);
  });
  return found;
}

/** Each type name that more than one file exports, `Place: lib/a.ts lib/b.ts`. */
export function duplicateTypesIn(files: readonly SourceFile[]): string[] {
  const places = new Map<string, string[]>();
  for (const file of files) {
    for (const name of exportedTypesIn(file)) places.set(name, [...(places.get(name) ?? []), file.path]);
  }
  return [...places].flatMap(([name, paths]) => (paths.length > 1 ? [`${name}: ${paths.join(' ')}`] : []));
}

function exportedTypesIn(file: SourceFile): string[] {
  return parse(file).statements.flatMap((node) => {
    const isType =
      ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
    return isType && isExported(node) && node.name !== undefined ? [node.name.text] : [];
  });
}

function isExported(node: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

/** Files of dependencies that are public although the package declares no exports. */
const PUBLIC_FILES = ['bottleneck/light.js'];

/** Each import of a private file of a dependency, `lib/x.ts imports a/dist/b.js`. */
export function privateImportsIn(file: SourceFile, hasExports: (name: string) => boolean): string[] {
  const names = importsOf(parse(file)).map(({ name }) => name);
  const isPrivate = (name: string): boolean => {
    const library = /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
    if (/^(?:\.|node:)/.test(name) || isBuiltin(name) || library === name) return false;
    return !PUBLIC_FILES.includes(name) && !hasExports(library);
  };
  return names.filter(isPrivate).map((name) => `${file.path} imports ${name}`);
}

/** The files that import a file of src, or one of its exports if `name` is given. */
export function importersOf(files: readonly SourceFile[], path: string, name?: string): string[] {
  const imports = (file: SourceFile): boolean =>
    importsOf(parse(file)).some(
      (wanted) => `${posix.join(posix.dirname(file.path), wanted.name)}.ts` === path,
    ) &&
    (name === undefined || new RegExp(`\\b${name}\\b`).test(file.text));
  return files
    .filter(imports)
    .map((file) => file.path)
    .sort();
}

/** The room of a file, and its lines without blank lines, comments, imports and lines of brackets only. */
export function workingLinesIn(file: SourceFile): { room: string; lines: number } {
  const bare = parse(file)
    .statements.filter((node) => ts.isImportDeclaration(node) || isReexport(node))
    .reduceRight((text, node) => text.slice(0, node.getStart()) + text.slice(node.end), file.text);
  const code = bare
    .replace(/^[ \t]*(?:\/\*[^]*?\*\/|\/\/.*)/gm, '')
    .split('\n')
    .map((line) => line.trim());
  const working = code.filter((line) => !/^(?:[\])}>;,|(\s]*|\)?\s*=>\s*[({]*)$/.test(line));
  const lines = working.reduce((sum, line) => sum + Math.ceil(line.length / 140), 0);
  return { room: partOf(file.path), lines };
}

function isReexport(node: ts.Statement): boolean {
  return ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined;
}

/** What the wiring exports although it neither opens a feature nor makes routes or jobs, `lib/app/x.ts exports y`. */
export function appExportsIn(file: SourceFile): string[] {
  if (partOf(file.path) !== 'app') return [];
  const names = parse(file).statements.flatMap((node) => {
    if (!isExported(node)) return [];
    if (ts.isFunctionDeclaration(node)) return [node.name?.text ?? 'default'];
    if (!ts.isVariableStatement(node)) return [];
    return node.declarationList.declarations.map(({ name }) => name.getText());
  });
  return names
    .filter((name) => !/^(?:open[A-Z]\w*|\w*(?:Route|Routes|Job|Jobs))$/.test(name))
    .map((name) => `${file.path} exports ${name}`);
}

/** Each cycle of imports once, as `a → b → a`. Imports inside functions and of types count. */
export function cyclesIn(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ path }) => path));
  const graph = new Map(files.map((file) => [file.path, edgesOf(file, known)]));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    state.set(path, 'open');
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const { path } of files) visit(path, []);
  return cycles;
}

function edgesOf(file: SourceFile, known: ReadonlySet<string>): string[] {
  return importsOf(parse(file))
    .filter(({ name }) => name.startsWith('.'))
    .flatMap(({ name }) => {
      const base = posix.join(posix.dirname(file.path), name);
      const target = [`${base}.ts`, `${base}/index.ts`].find((path) => known.has(path));
      return target === undefined ? [] : [target];
    });
}

/** `sense` of lib/sense/git.ts, `errors` of lib/errors.ts, `commands`, or `entry` of a file of src itself. */
function partOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  if (first === 'lib') return second.replace(/\.ts$/, '');
  return first === 'commands' ? 'commands' : 'entry';
}

function parse(file: SourceFile): ts.SourceFile {
  return ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
}

function importsOf(source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  walk(source, (node) => {
    if (ts.isImportDeclaration(node)) {
      found.push({ name: textOf(node.moduleSpecifier), typeOnly: onlyTypes(node), lazy: false });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      found.push({ name: textOf(node.moduleSpecifier), typeOnly: node.isTypeOnly, lazy: false });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      found.push({ name: textOf(node.argument.literal), typeOnly: !node.isTypeOf, lazy: true });
    } else if (ts.isCallExpression(node) && isImportCall(node)) {
      const [name] = node.arguments;
      if (name !== undefined && ts.isStringLiteralLike(name)) {
        found.push({
          name: name.text,
          typeOnly: false,
          lazy: node.expression.kind === ts.SyntaxKind.ImportKeyword,
        });
      }
    }
  });
  return found;
}

function onlyTypes(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.length > 0 &&
    named.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}

function isImportCall(node: ts.CallExpression): boolean {
  const callee = node.expression;
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
  );
}

function libraryViolations(path: string, part: string, { name, typeOnly, lazy }: Import): string[] {
  if (typeOnly) return [];
  const bare = name.replace(/^node:/, '');
  if (bare === 'child_process' && path !== SPAWNS) return [`imports ${name}: that is ${SPAWNS}'s`];
  if (MACHINE_MODULES.includes(bare) && part !== 'platform') return [`imports ${name}: that is platform's`];
  if (HEAVY.includes(name) && !lazy)
    return [`imports ${name} at once: import it inside the function that uses it`];
  return [];
}

/** Reads of the clock and of the environment. */
function machineUses(source: ts.SourceFile, mayReadEnv: boolean): string[] {
  const found: string[] = [];
  walk(source, (node) => {
    const [object, member] = memberOf(node);
    if (object === 'process' && member === 'env' && !mayReadEnv) found.push('reads process.env');
    if (object === 'Date' && member === 'now') found.push('calls Date.now');
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date') found.push('calls new Date()');
  });
  return found;
}

/** `process.env`, `process['env']` or `{ env } = process` as two names. */
function memberOf(node: ts.Node): [object: string, member: string] {
  if (ts.isPropertyAccessExpression(node)) return [node.expression.getText(), node.name.text];
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return [node.expression.getText(), node.argumentExpression.text];
  }
  if (ts.isBindingElement(node)) {
    const declaration = node.parent.parent;
    const from = ts.isVariableDeclaration(declaration) ? (declaration.initializer?.getText() ?? '') : '';
    return [from, (node.propertyName ?? node.name).getText()];
  }
  return ['', ''];
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : '';
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}
