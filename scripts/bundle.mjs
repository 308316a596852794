import { readFileSync, readdirSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(fileURLToPath(import.meta.url), '..', '..');

/** Libraries that a run loads only where it uses them: each a bundle of its own, `vendor/<name>.js`. */
const VENDORS = [
  'chrono-node/en',
  'cosmiconfig/dist/Explorer.js',
  'dbus-next',
  'eventsource-parser',
  'listr2',
  'undici',
  'x11',
  'yaml',
];

/** A file of ours that joins several libraries which share parts: one bundle of them all. */
const JOINED = new Map([
  ['src/lib/mcp/sdk.ts', './vendor/mcp.js'],
  ['src/lib/work/host/octokit.ts', './vendor/octokit.js'],
]);

/** The bundles by the module that each is made of. */
export const VENDOR_BUNDLES = new Map([
  ...VENDORS.map((id) => [id, `./vendor/${id.split('/')[0]}.js`]),
  ...JOINED,
]);

/** Native code cannot be bundled (looked up at run time); oclif asks for the compiler in its own development only. */
const EXTERNAL = ['koffi', 'typescript'];

/** Ids and files of src/commands: `sense/today.ts` is `sense:today`, `index.ts` is its folder's command. */
function commandFiles(folder = join(ROOT, 'src', 'commands'), topic = []) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return commandFiles(path, [...topic, entry.name]);
      const verb = entry.name.replace(/\.ts$/, '');
      return [{ id: (verb === 'index' ? topic : [...topic, verb]).join(':'), path }];
    });
}

/** The command table of a run from source reads the folder; the one of a build has it written out. */
const commandTable = {
  name: 'command-table',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]command-table\.ts$/ }, () => ({
      contents: `export const COMMANDS = {\n${commandFiles()
        .map(({ id, path }) => `  ${JSON.stringify(id)}: () => import(${JSON.stringify(path)}),`)
        .join('\n')}\n};\n`,
      loader: 'ts',
      resolveDir: join(ROOT, 'src'),
    }));
  },
};

/** Node's own modules have no effect when nothing of them is used: an unused import is dropped. */
const builtins = {
  name: 'builtins',
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path) ? { path, external: true, sideEffects: false } : undefined,
    );
  },
};

/**
 * `import('yaml')` becomes a lazy `require('./vendor/yaml.js')`, and `import('./hot/x')` of the hot path
 * a lazy `require('./hot/x.js')`. A static import of one of these libraries would be paid by every run: an error.
 */
const lazyBundles = {
  name: 'lazy-bundles',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${VENDORS.join('|')})$`) }, ({ path, kind, importer }) => {
      if (kind === 'entry-point' || importer.includes('node_modules')) return undefined;
      if (kind === 'dynamic-import') return { path: VENDOR_BUNDLES.get(path), external: true };
      return {
        errors: [{ text: `Import "${path}" inside the function that uses it: await import('${path}').` }],
      };
    });
    build.onResolve({ filter: /^\.\/(?:octokit|sdk)$/ }, ({ path, kind, resolveDir }) => {
      const id = JOINED.get(shown(join(resolveDir, `${path}.ts`)).replaceAll('\\', '/'));
      return kind === 'dynamic-import' && id !== undefined ? { path: id, external: true } : undefined;
    });
    build.onResolve({ filter: /^\.\/hot\// }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: `${path}.js`, external: true } : undefined,
    );
  },
};

/**
 * kleur asks when it is loaded whether standard output is a terminal, which has Node set that stream up: 5 ms. Here the
 * terminal that is written to decides (platform/format.ts).
 */
const unaskedKleur = {
  name: 'unasked-kleur',
  setup(build) {
    build.onLoad({ filter: /[\\/]node_modules[\\/]kleur[\\/]index\.m?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const question = 'process.stdout && process.stdout.isTTY';
      if (!text.includes(question)) return { errors: [{ text: `${path} does not ask "${question}".` }] };
      return { contents: text.replace(question, 'false'), loader: 'js' };
    });
  },
};

export const BASE = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  // `import()` in CommonJS output becomes a lazy require.
  supported: { 'dynamic-import': false },
  minifyWhitespace: true,
  minifySyntax: true,
  charset: 'ascii',
  legalComments: 'none',
  external: EXTERNAL,
  metafile: true,
  write: false,
  logLevel: 'warning',
  plugins: [builtins, commandTable, lazyBundles, unaskedKleur],
};

const require = createRequire(import.meta.url);

/**
 * Which bundle of `commands/` holds a command, by its first word: what is often run apart from what joins
 * everything. `''` is for the rest; `--help` for the help of steward itself, which runs none.
 */
const GROUPS = {
  sense: 'sense',
  work: 'work',
  notify: 'notify',
  agents: 'agents',
  config: 'own',
  hooks: 'own',
  open: 'own',
  sessions: 'own',
  go: 'own',
  standup: 'report',
  week: 'report',
  help: 'help',
  autocomplete: 'help',
  init: 'setup',
  install: 'setup',
  uninstall: 'setup',
  status: 'setup',
  '--help': 'root',
  '': 'whole',
};

/** The bundle of a group, by the first word of its commands. */
export const GROUP_BUNDLES = Object.fromEntries(
  Object.entries(GROUPS).map(([word, group]) => [word, `./commands/${group}.js`]),
);

/** Bundles whose commands tell of all others: help, and the completion scripts that are installed. */
const ALL_KNOWING = [GROUP_BUNDLES.help, GROUP_BUNDLES.install];

/** The commands of a manifest by the bundle that they belong in: ids, files, and what help needs to know. */
export function commandGroups(manifest) {
  const files = commandFiles();
  const bundleOf = (id) => GROUP_BUNDLES[id.split(':')[0]] ?? GROUP_BUNDLES[''];
  return [...new Set(Object.values(GROUP_BUNDLES))].map((bundle) => {
    const own = files.filter(({ id }) => bundleOf(id) === bundle);
    const known = ALL_KNOWING.includes(bundle) ? files : own;
    return {
      bundle,
      files: own,
      commands:
        bundle === GROUP_BUNDLES['--help']
          ? outlines(manifest)
          : Object.fromEntries(known.map(({ id }) => [id, manifest.commands[id]])),
    };
  });
}

/** What the help of steward itself says of a command; of a topic it names no command, but has to know one. */
function outlines({ commands }) {
  const all = Object.values(commands);
  const visible = all.filter(({ id, hidden }) => id.includes(':') && hidden !== true);
  const ofTopics = new Map(visible.map((command) => [command.id.split(':')[0], command]));
  const known = [...all.filter(({ id }) => !id.includes(':')), ...ofTopics.values()];
  return Object.fromEntries(
    known.map(({ id, summary, description, hidden }) => [
      id,
      { id, summary, description, hidden, aliases: [], hiddenAliases: [], args: {}, flags: {} },
    ]),
  );
}

/** The source of a group's bundle. */
export function groupSource({ files, commands }) {
  const rows = files.map(({ id, path }) => `${JSON.stringify(id)}: () => import(${JSON.stringify(path)}),`);
  return `export const group = { table: {\n${rows.join('\n')}\n}, commands: ${JSON.stringify(commands)} };\n`;
}

/** What every command shares, and what some groups do. */
export const SHARED_BUNDLE = './cli.js';
export const COMMON_BUNDLE = './commands/common.js';

/** The source of a shared bundle: a door to each of its modules for the other bundles, and what it exports beside. */
export function sharedSource(modules, more = '') {
  const doors = modules.map(
    (path) => `${JSON.stringify(path)}: () => require(${JSON.stringify(join(ROOT, path))}),`,
  );
  return `${more}\nexport const shared = {\n${doors.join('\n')}\n};\n`;
}

/**
 * What shared bundles have comes from there, once in a run.
 *
 * @param bundleOf from a module to the bundle that has it
 */
export function fromShared(bundleOf) {
  const asked = Symbol('asked');
  return {
    name: 'from-shared',
    setup(build) {
      build.onResolve(
        { filter: /^/ },
        async ({ path, kind, importer, namespace, resolveDir, pluginData }) => {
          if (pluginData === asked || kind === 'entry-point') return undefined;
          if (namespace === 'shared') return { path, external: true };
          const found = await build.resolve(path, {
            kind,
            importer,
            namespace,
            resolveDir,
            pluginData: asked,
          });
          const id = shown(found.path);
          if (found.external || found.namespace !== 'file' || !bundleOf.has(id)) return found;
          return { path: id, namespace: 'shared' };
        },
      );
      build.onLoad({ filter: /^/, namespace: 'shared' }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(bundleOf.get(path))}).shared[${JSON.stringify(path)}]();`,
      }));
    },
  };
}

/**
 * What a hot command imports with `import()`, most of its runs do without: a bundle of its own, which is loaded with the
 * first of these.
 *
 * @param later gets the modules
 * @param bundle where they will be
 */
export function restLater(later, bundle) {
  const asked = Symbol('asked');
  return {
    name: 'rest-later',
    setup(build) {
      build.onResolve(
        { filter: /^\.\.?\// },
        async ({ path, kind, importer, namespace, resolveDir, pluginData }) => {
          if (kind !== 'dynamic-import' || namespace === 'later' || pluginData === asked) return undefined;
          const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: asked });
          if (found.external || found.errors.length > 0) return found;
          const id = shown(found.path);
          later.add(id);
          return { path: id, namespace: 'later' };
        },
      );
      build.onLoad({ filter: /^/, namespace: 'later' }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(bundle)}).shared[${JSON.stringify(path)}]();`,
      }));
      build.onResolve({ filter: /^/, namespace: 'later' }, ({ path }) => ({ path, external: true }));
    },
  };
}

/** Loads a bundle that was built in memory. */
export function evaluate(text, filename) {
  const module = { exports: {} };
  const run = new Function('exports', 'require', 'module', '__filename', '__dirname', text);
  run(module.exports, require, module, filename, join(filename, '..'));
  return module.exports;
}

/**
 * The same code in ASCII, which V8 keeps in one byte a character: esbuild escapes strings and leaves
 * regular expressions alone.
 */
export function ascii(text) {
  return text.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Node's modules that cost a run 0.5 to 4 ms each, and that most commands never call. */
const LAZY_BUILTINS = [
  'child_process',
  'crypto',
  'fs/promises',
  'inspector',
  'os',
  'perf_hooks',
  'readline',
  'timers/promises',
  'tty',
];

/**
 * Libraries require these when they are loaded and call them seldom: each is loaded at its first use. Only
 * whole-module bindings (`x = require("crypto")`, then `x.createHash`) are changed.
 */
export function lazyBuiltins(text) {
  const required = new RegExp(`=require\\(("(?:node:)?(?:${LAZY_BUILTINS.join('|')})")\\)(?=[,;}])`, 'g');
  return `const lazyBuiltin = (id) => new Proxy({}, { get: (_, key) => (key === '__esModule' ? undefined : require(id)[key]) });
${text.replace(required, '=lazyBuiltin($1)')}`;
}

export function shown(path) {
  return relative(ROOT, path);
}
