// npm run docs writes docs/configuration.md from the schema and docs/conformance.md from the tests; --check fails if
// one of them is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, bundle, evaluate } from './bundle.mjs';
import { WORDS } from './config-words.mjs';
import { conformancePage } from './conformance.mjs';

const HOME = '/home-of-the-reader';

async function configModules() {
  const modules = ['files', 'leaf', 'schema', 'user-area'].map(
    (name) => `export * from './src/lib/config/${name}';`,
  );
  return evaluate((await bundle(modules.join('\n'))).text, join(ROOT, 'dist', 'docs.js'));
}

/** Sections that are one table, with the word for its entries. */
const TABLES = {
  'notifications.routing': 'EVENT',
  'notifications.thresholds': 'NAME',
  'agents.types': 'TYPE',
  'sense.sources': 'SOURCE',
};

/** Returns the page. Throws if a key has no words, or words have no key. */
async function configurationPage() {
  const { ENVIRONMENT, KEYS, settingsOf, userArea } = await configModules();
  const host = { area: userArea({ platform: 'linux', env: {}, home: HOME }), home: HOME };
  const words = new Map(Object.entries(WORDS));
  const missing = [];
  const leaves = settingsOf(KEYS);
  const rows = leaves.flatMap(({ path, leaf }, index) => {
    const section = path.slice(0, -1).join('.');
    const entry = TABLES[section];
    const isNext = entry !== undefined && leaves[index - 1]?.path.slice(0, -1).join('.') === section;
    if (isNext) return [];
    const key = entry === undefined ? path.join('.') : `${section}.${entry}`;
    const [sentence = '', fallback] = [words.get(key) ?? []].flat();
    if (sentence === '') missing.push(key);
    words.delete(key);
    const value = entry === undefined ? shown(leaf.fallback(host), leaf) : tableOf(leaves, section, host);
    return [`| \`${key}\` | ${fallback ?? value} | ${cell(sentence)} Value: ${cell(leaf.expected)}. |`];
  });
  if (missing.length + words.size > 0) {
    throw new Error(
      `scripts/config-words.mjs lacks words for: ${missing.join(', ') || 'nothing'}; has words for no key: ${[...words.keys()].join(', ') || 'none'}`,
    );
  }
  return `${INTRODUCTION}\n| key | default | |\n|---|---|---|\n${rows.join('\n')}\n\n## Environment\n\nA variable overrides the file, and a flag overrides both.\n\n| variable | key |\n|---|---|\n${ENVIRONMENT.map(
    ({ name, key }) => `| \`${name}\` | \`${key}\` |`,
  ).join('\n')}\n${OTHER_VARIABLES}`;
}

/** Returns the defaults of a table, one entry a line. */
function tableOf(leaves, section, host) {
  return leaves
    .filter(({ path }) => path.slice(0, -1).join('.') === section)
    .map(({ path, leaf }) => `${path.at(-1)}: ${shown(leaf.fallback(host), leaf)}`)
    .join('<br>');
}

const INTRODUCTION = `# Configuration

<!-- Written by "npm run docs" from src/lib/config/schema.ts; do not edit. -->

\`\`\`sh
steward config show                         # what differs from the defaults; --all shows every key
steward config set sense.retentionDays 60   # checks the value and keeps your comments
steward config add sense.exclude Telegram   # adds one item to a list; config remove removes one
\`\`\`

\`\`\`sh
steward config set sense.exclude Signal,KeePassXC   # replaces the whole list
steward config get sense.retentionDays              # only the value, for scripts
steward config unset sense.retentionDays            # restores the default
steward config path                                 # the path of the file
\`\`\`

All settings are in \`config.yaml\` in the user area, \`~/.steward\`, or in the folder that \`STEWARD_HOME\` names. steward
never reads configuration from the current folder. If the file is invalid, steward lists all problems at once and captures
nothing until they are fixed. A secret may be stored as a reference, \`env:NAME\` or \`file:PATH\`, and is never shown.

Four older files are still read, and override \`config.yaml\`: \`settings.json\` (\`notifications\`), \`sense/config.json\`,
\`work/config.yaml\` and \`work/work_repo.json\`; the last three without \`sense.\` or \`WORK.\` in front. The next change of a
setting, or start of the daemon, moves what they have to \`config.yaml\`, keeps each as \`FILE.moved-HASH\` and reports it. A
\`settings.json\` that is a link or has other keys belongs to another program: steward only reads it.

## Keys
`;

const OTHER_VARIABLES = `
Other variables: \`STEWARD_HOME\` is the user area. \`GH_TOKEN\` or \`GITHUB_TOKEN\` is the credential for work tracking, and
\`GITHUB_API_URL\` its server. \`CLAUDE_CONFIG_DIR\` is the folder of the assistant's settings. \`NO_COLOR\` and \`FORCE_COLOR\`
turn color off and on. \`STEWARD_NO_CODE_CACHE=1\` turns the code cache off.
`;

/** Formats a default as a person would write it. */
function shown(value, leaf) {
  if (value === undefined || (leaf.secret && value === '')) return 'not set';
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((item) => `\`${item}\``).join(', ');
  if (typeof value === 'object')
    return Object.keys(value).length === 0 ? 'none' : `\`${JSON.stringify(value)}\``;
  return `\`${String(value).replace(HOME, '~')}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}

const pages = { 'configuration.md': await configurationPage(), 'conformance.md': conformancePage() };
for (const [name, text] of Object.entries(pages)) {
  const path = join(ROOT, 'docs', name);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`docs/${name} is stale. Run "npm run docs" and commit it.`);
    process.exitCode = 1;
  }
}
