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

/** Which shell and which system this is: on Windows oclif starts a program to find out, in every run. */
const OS = `
  exports.getHomeDir = () => require('node:os').homedir();
  exports.getPlatform = async () => process.platform;
  exports.getShell = async () => (process.env.SHELL ?? 'unknown').split('/').pop();
`;

/** Leaves out what the product never gets to in oclif, and every run would pay for. */
export const leanOclif = {
  name: 'lean-oclif',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${Object.keys(REPLACED).join('|')})$`) }, ({ path, importer }) =>
      importer.includes('node_modules') ? { path, namespace: 'lean' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'lean' }, ({ path }) => ({
      contents: REPLACED[path],
      resolveDir: ROOT,
    }));
    build.onLoad({ filter: /@oclif[\\/]core[\\/]lib[\\/]util[\\/]os\.js$/ }, () => ({ contents: OS }));
  },
};
