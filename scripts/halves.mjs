// A bundle in two halves: the first has what most runs need, the second what is imported inside functions. Half the text is
// read and compiled in half the time. No file of src is in both: the second half asks the first for what it uses of it.
import { relative } from 'node:path';

import { ROOT, bundle } from './bundle.mjs';

/**
 * @param {string} entry exports `runHot`
 * @param {readonly string[]} roots files whose static imports are the first half
 * @param {readonly [string, string]} names of the bundles
 * @param {Map<string, string>} found as for `bundle`
 */
export async function halves(entry, roots, [first, second], found) {
  const { graph } = await bundle(entry, { found });
  const core = new Set();
  for (const root of [entry, ...roots]) addReached(root, graph, core);
  const others = importedIn(graph, Object.keys(graph), 'dynamic-import').filter((path) => !core.has(path));
  const open = `export const open = { ${tableOf(others, './')} };`;
  const asked = await namesAsked(open, core, found);
  const shared = `export const shared = { ${tableOf(asked.keys(), 'asked:')} };`;
  const isInSecond = ({ kind, file }) => kind === 'dynamic-import' && !core.has(file);
  const toSecond = redirect('second', isInSecond, (file) => {
    return `module.exports = require('./${second}').open[${JSON.stringify(file)}]();`;
  });
  const isInFirst = ({ file }) => core.has(file);
  const toFirst = redirect('first', isInFirst, (file) => {
    const from = `require('./${first}').shared[${JSON.stringify(file)}]()`;
    const names = asked.get(file);
    // Names that are read once take less text than members at each use.
    return names === '*' ? `module.exports = ${from};` : `const ${names} = ${from}; export ${names};`;
  });
  const reExports = modules('asked', (file) => `export ${asked.get(file)} from './${file}';`);
  const head = `export { runHot } from './${entry}';\n${shared}`;
  return [
    [first, await bundle(head, { found, plugins: [reExports, toSecond] })],
    [second, await bundle(open, { found, plugins: [toFirst] })],
  ];
}

/** Adds a file and what it imports statically. */
function addReached(file, graph, reached) {
  if (reached.has(file)) return;
  reached.add(file);
  for (const path of importedIn(graph, [file], 'import-statement')) addReached(path, graph, reached);
}

/** The files of ours that these files import in this way. */
function importedIn(graph, files, kind) {
  const imports = files.flatMap((file) => graph[file].imports);
  const paths = imports
    .filter((one) => one.kind === kind && one.path.startsWith('src/'))
    .map(({ path }) => path);
  return [...new Set(paths)].sort();
}

/** What the second half asks of the first: by file, the names as `export` writes them. */
async function namesAsked(open, core, found) {
  const asked = new Map();
  const external = {
    name: 'asked',
    setup(build) {
      build.onResolve({ filter: /^\./ }, async (given) => {
        const file = await fileOf(build, given);
        if (!core.has(file)) return undefined;
        if (given.kind === 'dynamic-import') asked.set(file, '*');
        return { path: `asked:${file}`, external: true };
      });
    },
  };
  const { text } = await bundle(open, { found, format: 'esm', minify: false, plugins: [external] });
  const names = new Map();
  for (const [, list, file] of text.matchAll(/import \{([^}]*)\} from "asked:([^"]+)"/g)) {
    const own = list.split(',').map((name) => name.trim().split(' ')[0]);
    names.set(file, new Set([...(names.get(file) ?? []), ...own]));
  }
  if (/import \* as \w+ from "asked:/.test(text))
    throw new Error('A file of src is imported with `import *`. Import names from it.');
  for (const [file, own] of names) if (!asked.has(file)) asked.set(file, `{ ${[...own].join(', ')} }`);
  return asked;
}

function tableOf(files, prefix) {
  return [...files]
    .sort()
    .map((file) => `${JSON.stringify(file)}: () => require(${JSON.stringify(`${prefix}${file}`)})`)
    .join(', ');
}

/** Modules with a text of their own, which may import our files. */
function modules(namespace, textOf) {
  return {
    name: namespace,
    setup(build) {
      const filter = new RegExp(`^${namespace}:`);
      build.onResolve({ filter }, ({ path }) => ({ path: path.slice(namespace.length + 1), namespace }));
      build.onLoad({ filter: /^/, namespace }, ({ path }) => ({ contents: textOf(path), resolveDir: ROOT }));
    },
  };
}

/** Replaces the files for which `applies` by a text. */
function redirect(namespace, applies, textOf) {
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter: /^\./ }, async (given) => {
        if (given.namespace === namespace) return { path: given.path, external: true };
        const file = await fileOf(build, given);
        return file !== undefined && applies({ ...given, file }) ? { path: file, namespace } : undefined;
      });
      build.onLoad({ filter: /^/, namespace }, ({ path }) => ({ contents: textOf(path), resolveDir: ROOT }));
    },
  };
}

/** The path of an imported file from the project's folder; undefined while it is being looked up. */
async function fileOf(build, { path, kind, importer, resolveDir, pluginData }) {
  if (pluginData === fileOf) return undefined;
  const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: fileOf });
  return found.external ? undefined : relative(ROOT, found.path).replaceAll('\\', '/');
}
