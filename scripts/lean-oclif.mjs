import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { ROOT } from './bundle.mjs';

/** What oclif's code, and the libraries below it, find in place of a library; each line with its reason. */
const REPLACED = {
  // The search for plugins and their commands: there is one plugin, and it is given.
  tinyglobby: 'module.exports = {};',
  minimatch: 'module.exports = {};',
  lilconfig: 'module.exports = {};',
  // oclif's own debug output (DEBUG=oclif:*): 2.5 ms.
  debug: `
    const off = () => {};
    off.enabled = false;
    module.exports = () => off;
  `,
  // A template of a help text is a name in its two marks; the library compiles a function for each text: 3 ms.
  ejs: `
    exports.render = (text, data) => text.replace(/<%[-=]?(.*?)%>/g, (mark, name) => {
      const value = name.trim().split('.').reduce((found, key) => found?.[key], data);
      if (value === undefined) throw new Error('Nothing is called ' + mark + ' in a help text.');
      return value;
    });
  `,
  // Ours is made for the same, and does without a pattern of all emoji: 3 ms.
  'string-width': `module.exports = require('./src/lib/cli/width').displayWidth;`,
};

/** What stands in place of a file of oclif's; each with its reason. */
const FILES = {
  // Which shell and which system this is: on Windows oclif starts a program to find out, in every run.
  'util/os.js': `
    exports.getHomeDir = () => require('node:os').homedir();
    exports.getPlatform = async () => process.platform;
    exports.getShell = async () => (process.env.SHELL ?? 'unknown').split('/').pop();
  `,
  // Asks how wide standard error is, too, which opens it: 1 ms.
  'screen.js': `
    const width = (stream) => (stream.isTTY ? Math.max(40, stream.columns || 80) : 80);
    Object.defineProperties(exports, {
      stdtermwidth: { get: () => width(process.stdout) },
      errtermwidth: { get: () => width(process.stderr) },
    });
  `,
  // Asks of both outputs, by a library; all of steward asks of standard output.
  'ux/supports-color.js': `
    const { terminalOf } = require('./src/lib/platform/terminal/stdio');
    exports.supportsColor = () => terminalOf(process.stdout).color;
  `,
  // Has spinners made, and opens standard error for them.
  'ux/index.js': `
    const { stdout, stderr } = require('./write');
    const { colorize } = require('./theme');
    exports.colorize = colorize;
    exports.ux = { stdout, stderr, colorize };
  `,
};

/**
 * A file of oclif's that loads others at their first use: `const x_1 = require("./x")` becomes a function, and
 * each `x_1.` a call of it. The compiler that wrote the file refers to a module in no other way.
 */
function loadingLate(text) {
  const names = [];
  const late = text.replace(
    /^const (\w+_\d+) = ((?:__importDefault|__importStar)\(require\("[^"]+"\)\)|require\("[^"]+"\));$/gm,
    (_, name, value) => {
      names.push(name);
      return `const ${name} = () => ${value};`;
    },
  );
  if (names.length === 0) return text;
  return late.replace(new RegExp(`\\b(${names.join('|')})\\.`, 'g'), '($1()).');
}

/** Leaves out what the product never gets to in oclif, and every run would pay for. */
export const leanOclif = {
  name: 'lean-oclif',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${Object.keys(REPLACED).join('|')})$`) }, ({ path, importer }) =>
      importer.includes('node_modules') ? { path, namespace: 'lean' } : undefined,
    );
    build.onLoad({ filter: /^/, namespace: 'lean' }, ({ path }) => ({
      contents: REPLACED[path],
      resolveDir: ROOT,
    }));
    build.onLoad({ filter: /@oclif[\\/]core[\\/]lib[\\/].*\.js$/ }, ({ path }) => {
      const name = path.replaceAll('\\', '/').replace(/^.*\/@oclif\/core\/lib\//, '');
      const ours = FILES[name];
      if (ours === undefined) return { contents: loadingLate(readFileSync(path, 'utf8')) };
      return { contents: ours, resolveDir: ours.includes("'./src/") ? ROOT : dirname(path) };
    });
  },
};
