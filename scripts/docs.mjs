// npm run docs writes docs/configuration.md from the schema; --check fails when the one that is there is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

import { BASE, ROOT, evaluate } from './bundle.mjs';
import { WORDS } from './config-words.mjs';

const FILE = join(ROOT, 'docs', 'configuration.md');
const HOME = '/home-of-the-reader';

async function configModules() {
  const { outputFiles } = await build({
    ...BASE,
    stdin: {
      contents:
        "export * from './src/lib/config/files'; export * from './src/lib/config/key'; export * from './src/lib/config/user-area';",
      resolveDir: ROOT,
      loader: 'ts',
    },
  });
  return evaluate(outputFiles[0].text, join(ROOT, 'dist', 'docs.js'));
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
      const [sentence, fallback] = [words.get(key) ?? missing.push(key)].flat();
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
steward config set sense.exclude Signal,KeePassXC   # a list is set whole
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

const text = await configurationPage();
if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('docs/configuration.md is stale: a key has changed.\nRun "npm run docs" and commit it.');
  process.exitCode = 1;
}
