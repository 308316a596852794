// npm run docs writes docs/configuration.md from the schema and docs/commands.md from the manifest; --check fails when
// one that is there is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, bundle, evaluate } from './bundle.mjs';
import { WORDS } from './config-words.mjs';

const HOME = '/home-of-the-reader';

async function configModules() {
  const modules = ['files', 'leaf', 'user-area'].map((name) => `export * from './src/lib/config/${name}';`);
  return evaluate((await bundle(modules.join('\n'))).text, join(ROOT, 'dist', 'docs.js'));
}

/** The page, from the table of the configuration's files. Throws where keys and words do not match. */
async function configurationPage() {
  const { CONFIG_FILES, ENVIRONMENT, dottedKey, leavesOf, userArea } = await configModules();
  const host = { area: userArea({ platform: 'linux', env: {}, home: HOME }), home: HOME };
  const words = new Map(Object.entries(WORDS));
  const missing = [];
  const sections = CONFIG_FILES.map((file) => {
    const rows = leavesOf(file.keys).map(({ path, leaf }) => {
      const key = dottedKey(file, path);
      const [sentence = '', fallback] = [words.get(key) ?? []].flat();
      if (sentence === '') missing.push(key);
      words.delete(key);
      return `| \`${key}\` | ${fallback ?? shown(leaf.fallback(host), leaf)} | ${cell(sentence)} Takes ${cell(leaf.expected)}. |`;
    });
    const note =
      file.prefix === ''
        ? ''
        : ` In the file the keys stand without \`${file.prefix}.\` in front: \`config set\` and \`config show\` use the long names.`;
    return `## ${file.name}\n\nAs ${file.format.toUpperCase()}, in the user area.${note}\n\n| key | default | |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  if (missing.length + words.size > 0) {
    throw new Error(
      `scripts/config-words.mjs lacks words for: ${missing.join(', ') || 'nothing'}; has words for no key: ${[...words.keys()].join(', ') || 'none'}`,
    );
  }
  return `${INTRODUCTION}\n${sections.join('\n')}\n## Environment\n\nA variable stands over the file, a flag over both.\n\n| variable | key |\n|---|---|\n${ENVIRONMENT.map(
    ({ name, key }) => `| \`${name}\` | \`${key}\` |`,
  ).join('\n')}\n${OTHER_VARIABLES}`;
}

const INTRODUCTION = `# Configuration

<!-- Written by "npm run docs" from src/lib/config/schema.ts; do not edit. -->

Everything lies in the user area, \`~/.steward\` (\`STEWARD_HOME\` moves it). Each key lives in one file; the same key in
another one is an error. Nothing of the folder that you stand in is read.

\`\`\`sh
steward config show                     # each value, and where it comes from; secrets are redacted
steward config path                     # the files
steward config set sense.retentionDays 60   # checks the value, writes the right file, keeps your comments
steward config set sense.exclude Signal,KeePassXC   # replaces a whole list
steward config add sense.exclude Telegram   # adds one item, to the default too; config remove takes one out
steward config get sense.retentionDays      # the plain value, for scripts
steward config unset sense.retentionDays    # back to the default
\`\`\`

All problems of all files are told at once, each with its file, its key and what was expected; sense then captures
nothing. A secret may stand there as \`env:NAME\` or \`file:PATH\` and is never shown.
`;

const OTHER_VARIABLES = `
Beside these: \`STEWARD_HOME\` names the user area; \`GH_TOKEN\` or \`GITHUB_TOKEN\` is the credential for work tracking and
\`GITHUB_API_URL\` another server; \`CLAUDE_CONFIG_DIR\` is where \`hooks install\` looks for the assistant's settings;
\`NO_COLOR\` and \`FORCE_COLOR\` are obeyed; \`STEWARD_NO_CODE_CACHE=1\` leaves the code cache alone.
`;

/** A default as a person would write it. */
function shown(value, leaf) {
  if (value === undefined || (leaf.secret && value === '')) return 'not set';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((one) => `\`${one}\``).join(', ');
  if (typeof value === 'object')
    return Object.keys(value).length === 0 ? 'none' : `\`${JSON.stringify(value)}\``;
  return `\`${String(value).replace(HOME, '~')}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}

/** Every command with its usage and summary, by topic, from the manifest. */
function commandsPage() {
  const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'));
  const { topics } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).oclif;
  const shownOnes = Object.values(commands).filter(({ hidden }) => hidden !== true);
  const groups = new Map();
  for (const command of shownOnes) {
    const [word] = command.id.split(':');
    const topic = topics[word] === undefined ? '' : word;
    groups.set(topic, [...(groups.get(topic) ?? []), command]);
  }
  const sections = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([topic, list]) => {
      const head = topic === '' ? '## On their own\n' : `## ${topic}\n\n${topics[topic].description}\n`;
      return `${head}\n| command | |\n|---|---|\n${list.map(commandRow).join('\n')}\n`;
    });
  return `${COMMANDS_INTRODUCTION}\n${sections.join('\n')}`;
}

function commandRow({ id, args, flags, summary, description }) {
  const words = Object.values(args).map(({ name, required }) =>
    required ? name.toUpperCase() : `[${name.toUpperCase()}]`,
  );
  const own = Object.values(flags)
    .filter(({ helpGroup, hidden }) => helpGroup !== 'GLOBAL' && hidden !== true)
    .map(({ name, type, helpValue, required, options, allowNo }) => {
      const value = type === 'option' ? ` ${helpValue ?? options?.join('\\|') ?? name.toUpperCase()}` : '';
      const word = `--${allowNo ? '[no-]' : ''}${name}${value}`;
      return required ? word : `[${word}]`;
    });
  const usage = [id.replaceAll(':', ' '), ...words].join(' ');
  return `| \`${usage}\` | ${cell(summary ?? description ?? '')}${own.length === 0 ? '' : ` ${own.map((one) => `\`${one}\``).join(' ')}`} |`;
}

const COMMANDS_INTRODUCTION = `# Every command

<!-- Written by "npm run docs" from the commands' own help; do not edit. -->

\`steward COMMAND --help\` has examples and what each flag means. Every command has \`--json\`: one JSON document on stdout (lines of
JSON where a hosted session is followed) and nothing else there; talk and errors (\`{"error":{"kind","message","hint"}}\`) go to
stderr. \`NO_COLOR\` and \`FORCE_COLOR\` are obeyed; a pipe gets plain text.

| exit code | |
|---|---|
| 0 | done |
| 1 | a bug |
| 2 | usage: a flag or an argument is wrong |
| 3 | the configuration is wrong |
| 4 | not authenticated |
| 5 | not found |
| 6 | conflict: somebody was first, or an answer is needed |
| 7 | locked: another run is at it |
| 8 | unavailable: the network, a service, the platform |
| 130 | interrupted |

Hooks and the sweep exit 0 whatever happens; \`--strict\` gives them the real code.
`;

const pages = { 'configuration.md': await configurationPage(), 'commands.md': commandsPage() };
for (const [name, text] of Object.entries(pages)) {
  const path = join(ROOT, 'docs', name);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(
      `docs/${name} is stale: a key or a command has changed.\nRun "npm run docs" and commit it.`,
    );
    process.exitCode = 1;
  }
}
