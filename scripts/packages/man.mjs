// The man pages: one for each command that people call, and steward(1), which lists them. All from the manifest.

/** Returns the text of each page by its file name, such as `steward-notify-send.1`. */
export function manPages({ commands }, { version, description }) {
  const shown = Object.values(commands)
    .filter(({ hidden }) => !hidden)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const head = (name) => `.TH ${name.toUpperCase()} 1 "" "steward ${version}" "steward manual"`;
  const pages = new Map([['steward.1', mainPage(shown, description, head('steward'))]]);
  const ids = new Set(shown.map(({ id }) => id));
  for (const command of shown)
    pages.set(`${pageOf(command.id)}.1`, page(command, ids, head(pageOf(command.id))));
  return pages;
}

const pageOf = (id) => ['steward', ...id.split(':')].join('-');
const words = (id) => id.replaceAll(':', ' ');

function mainPage(commands, description, head) {
  return lines([
    head,
    '.SH NAME',
    'steward \\- your day, your sessions and what waits for you',
    '.SH SYNOPSIS',
    '.B steward',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    text(`${description} Start with steward up, or try steward demo.`),
    '.SH COMMANDS',
    ...commands.flatMap(({ id, summary }) => [
      '.TP',
      `.BR ${plain(pageOf(id)).replaceAll(' ', '\\~')} (1)`,
      text(`${summary}.`),
    ]),
    '.SH FILES',
    '.TP',
    '.I ~/.steward',
    'Configuration, records and state. Readable only by you.',
    '.SH EXIT STATUS',
    'The codes are listed in docs/daemon.md. 0 is success, 2 a wrong argument or flag.',
  ]);
}

function page({ id, summary, description, args, flags, examples, related = [] }, ids, head) {
  const own = Object.values(flags).filter(({ hidden }) => !hidden);
  const named = Object.values(args).filter(({ hidden }) => !hidden);
  const see = related
    .map((line) =>
      line
        .split(' ')
        .filter((word) => /^[a-z-]+$/.test(word))
        .join(':'),
    )
    .filter((other) => ids.has(other));
  return lines([
    head,
    '.SH NAME',
    `${plain(pageOf(id))} \\- ${plain(summary)}`,
    '.SH SYNOPSIS',
    `.B steward ${plain(words(id))}`,
    ...named.map(({ name, required }) => (required ? `.I ${plain(name)}` : `.RI [ ${plain(name)} ]`)),
    ...(own.length === 0 ? [] : ['.RI [ options ]']),
    ...(description === undefined ? [] : ['.SH DESCRIPTION', text(description)]),
    ...section(
      'ARGUMENTS',
      named.flatMap((arg) => ['.TP', `.I ${plain(arg.name)}`, text(sentence(arg))]),
    ),
    ...section(
      'OPTIONS',
      own.flatMap((flag) => ['.TP', spelled(flag), text(sentence(flag))]),
    ),
    ...section(
      'EXAMPLES',
      (examples ?? []).flatMap((given, i) => [...(i === 0 ? [] : ['.PP']), ...example(given)]),
    ),
    ...section(
      'SEE ALSO',
      ['steward', ...new Set(see.map(pageOf))].map(
        (name, i, all) => `.BR ${plain(name)} (1)${i < all.length - 1 ? ',' : ''}`,
      ),
    ),
  ]);
}

function section(title, body) {
  return body.length === 0 ? [] : [`.SH ${title}`, ...body];
}

function spelled({ name, char, type, helpValue, allowNo }) {
  const long = `\\-\\-${allowNo ? '[no\\-]' : ''}${plain(name)}`;
  const short = char === undefined ? '' : `\\-${char}, `;
  return type === 'boolean'
    ? `.B "${short}${long}"`
    : `.BI "${short}${long} " "${plain(helpValue ?? 'VALUE')}"`;
}

function sentence({ description = '', options, default: fallback }) {
  const listed = options === undefined ? '' : ` One of: ${options.join(', ')}.`;
  const given = typeof fallback === 'string' ? ` Default: ${fallback}.` : '';
  return `${/[.!?]$/.test(description) ? description : `${description}.`}${listed}${given}`;
}

function example(given) {
  const { description, command } = typeof given === 'string' ? { command: given } : given;
  const whole = command.includes('config.bin') ? command : `steward ${command}`;
  return [
    ...(description === undefined ? [] : [text(`${description}:`)]),
    '.EX',
    ...whole
      .replaceAll('<%= config.bin %>', 'steward')
      .split('\n')
      .map((line) => guarded(plain(line))),
    '.EE',
  ];
}

/** Text in backticks is bold. */
function text(source) {
  return source
    .replaceAll('<%= config.bin %>', 'steward')
    .split('\n')
    .map((line) => guarded(plain(line).replace(/`([^`]*)`/g, '\\fB$1\\fR')))
    .join('\n.br\n');
}

/** Everything that roff would read as more than a letter. */
function plain(source) {
  return source.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq');
}

/** A line of text must not begin as a request does. */
function guarded(line) {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}

function lines(all) {
  return `${all.join('\n')}\n`;
}
