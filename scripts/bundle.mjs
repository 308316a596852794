import { readdirSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const { build, stop } = await import('esbuild').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error(
    'esbuild, which builds steward, is not installed.\nRun "npm ci --include=dev": npm leaves it out if NODE_ENV is production.',
  );
  process.exit(8);
});

export const ROOT = resolve(fileURLToPath(import.meta.url), '..', '..');

/** Native code cannot be bundled (looked up at run time); oclif asks for the compiler in its own development only. */
const EXTERNAL = ['koffi', 'typescript'];

/** Files of ours that join several heavy libraries: a bundle of them all, as for one library. */
const JOINED = { sdk: 'mcp', octokit: 'octokit' };

/** The folder of src/commands as a table: `sense/today.ts` is `sense:today`, `index.ts` is its folder's command. */
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

/** A run from source reads the folder of the commands; a build has its table written out. */
const commandTable = {
  name: 'command-table',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]command-table\.ts$/ }, () => {
      const rows = commandFiles().map(
        ({ id, path }) => `${JSON.stringify(id)}: () => import(${JSON.stringify(path)}),`,
      );
      return { contents: `export const COMMANDS = { ${rows.join('\n')} };`, resolveDir: ROOT };
    });
  },
};

/** Packages that have a stand-in: at most three, each file with its reason. No file of a package is changed. */
const STAND_INS = {
  '@oclif/core': 'src/lib/cli/help.ts',
  debug: 'scripts/stand-ins/debug.cjs',
  ejs: 'scripts/stand-ins/ejs.cjs',
};

const standIns = {
  name: 'stand-ins',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${Object.keys(STAND_INS).join('|')})$`) }, ({ path }) => ({
      path: join(ROOT, STAND_INS[path]),
    }));
  },
};

/** Drops unused imports of Node's own modules. */
const unused = {
  name: 'unused',
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path) ? { path, external: true, sideEffects: false } : undefined,
    );
    // x11 loads these two when they are read, which steward doesn't do: 250 kB.
    build.onResolve({ filter: /^\.\/(keysyms|xserver)$/ }, ({ path, importer }) =>
      /[\\/]x11[\\/]lib[\\/]index\.js$/.test(importer) ? { path, external: true } : undefined,
    );
    // Only for a bus that is a program to start (unixexec).
    build.onResolve({ filter: /^event-stream$/ }, ({ path }) => ({ path, external: true }));
    // Its CommonJS entry finds its files only at run time; this is its entry for bundlers.
    build.onResolve({ filter: /^jsonc-parser$/ }, () => ({
      path: join(ROOT, 'node_modules', 'jsonc-parser', 'lib', 'esm', 'main.js'),
      sideEffects: false,
    }));
    // What formats text fills tables when it is loaded; steward only parses.
    build.onResolve({ filter: /^\.\/(impl\/)?[a-z-]+$/ }, ({ path, importer, resolveDir }) =>
      /[\\/]jsonc-parser[\\/]/.test(importer)
        ? { path: join(resolveDir, `${path}.js`), sideEffects: false }
        : undefined,
    );
  },
};

/**
 * A library that our code imports inside a function gets a bundle of its own, which is loaded when it is first used.
 *
 * @param {Map<string, string>} found from what is bundled to the path of its bundle; grows
 */
function vendors(found) {
  return {
    name: 'vendors',
    setup(build) {
      const inVendor = build.initialOptions.outfile?.startsWith('vendor/');
      build.onResolve({ filter: /^/ }, ({ path, kind, importer, resolveDir }) => {
        // One library may need another one that has a bundle.
        if (inVendor && kind !== 'entry-point' && found.has(path))
          return { path: `./${basename(found.get(path))}`, external: true };
        if (kind !== 'dynamic-import' || importer.includes('node_modules')) return undefined;
        const joined = JOINED[/^\.\/(\w+)$/.exec(path)?.[1] ?? ''];
        const isLibrary = !/^[./]/.test(path) && !isBuiltin(path) && !EXTERNAL.includes(path);
        if (joined === undefined && !isLibrary) return undefined;
        const bundle = `./vendor/${joined ?? path.replace(/^@[^/]+\//, '').split('/')[0]}.js`;
        found.set(joined === undefined ? path : join(resolveDir, `${path}.ts`), bundle);
        return { path: bundle, external: true };
      });
    },
  };
}

/**
 * One entry as the text of a CommonJS bundle, with the files of libraries that are in it.
 *
 * @param {string} entry a file or library; or the text of a module, which begins with `export`
 * @param {{ found?: Map<string, string>, outfile?: string, define?: Record<string, string>, format?: string, plugins?: object[] }} options
 */
export async function bundle(entry, { found = new Map(), plugins = [], ...options } = {}) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    ...(entry.startsWith('export ')
      ? { stdin: { contents: entry, resolveDir: ROOT, loader: 'ts' } }
      : { entryPoints: [entry] }),
    outfile: 'out.js',
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    // `import()` in CommonJS output becomes a lazy require.
    supported: { 'dynamic-import': false },
    minify: true,
    charset: 'ascii',
    legalComments: 'none',
    external: EXTERNAL,
    metafile: true,
    write: false,
    logLevel: 'warning',
    plugins: [vendors(found), standIns, unused, commandTable, ...plugins],
    ...options,
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const used = Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0);
  return {
    text: ascii(outputFiles[0].text),
    inputs: used.map((path) => relative(ROOT, join(ROOT, path))),
    graph: metafile.inputs,
  };
}

/** The script and the style sheets of the pages. */
export async function bundlePages() {
  const folder = join(ROOT, 'templates', 'dashboard');
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['page.js', 'steward.css', 'work.css'].map((name) => join(folder, name)),
    outdir: 'pages',
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    write: false,
    logLevel: 'warning',
  });
  return outputFiles.map(({ path, text }) => [`pages/${basename(path)}`, text]);
}

/** Ends the compiler, which otherwise keeps running, with its memory, as long as this process does. */
export const endBundler = () => stop();

/** Loads a bundle that was built in memory. */
export function evaluate(text, filename) {
  const module = { exports: {} };
  const run = new Function('exports', 'require', 'module', '__filename', '__dirname', text);
  run(module.exports, createRequire(filename), module, filename, ROOT);
  return module.exports;
}

/** V8 keeps ASCII in one byte a character; esbuild escapes strings and leaves regular expressions alone. */
function ascii(text) {
  return text.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
