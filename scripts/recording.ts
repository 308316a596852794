// npm run recording: docs/images/terminal.svg, a moving picture of the demo in a real terminal. tmux runs the commands;
// each frame is what its pane shows.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { until as waitFor } from '../test/helpers/desktop-kit';

const ROOT = resolve(__dirname, '..');
const FILE = join(ROOT, 'docs', 'images', 'terminal.svg');
const MAX_BYTES = 150_000;
const COLUMNS = 84;
const ROWS = 20;
/** Each command, and for how many seconds its output stays. */
const SCENES: readonly (readonly [command: string, seconds: number])[] = [
  ['steward inbox', 5],
  ['steward sessions', 5],
  ['steward time', 5],
  ['steward sense today', 5],
];
const TYPED_SECONDS = 0.9;

const CELL = { width: 8.4, height: 18, size: 14, margin: 14 };
const BACK = '#16181d';
const TEXT = '#d8dbe2';
/** The sixteen colours of the terminal, as on a dark background. */
const PALETTE = [
  ...['#3b4048', '#e06c75', '#8fc379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#abb2bf'],
  ...['#7f8794', '#ff8b94', '#a9dc93', '#ffd68a', '#82c4ff', '#de9bf0', '#7bd3de', '#ffffff'],
];

interface Style {
  color: string | undefined;
  isBold: boolean;
  isDim: boolean;
}

interface Frame {
  screen: string;
  seconds: number;
}

async function record(): Promise<Frame[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rec-'));
  const env = { ...process.env, HOME: folder, TZ: 'UTC', LANG: 'C.UTF-8', TMUX: undefined };
  const tmux = (...args: string[]): string => {
    const result = spawnSync('tmux', ['-S', join(folder, 's'), '-f', '/dev/null', ...args], {
      env,
      encoding: 'utf8',
    });
    if (result.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  // The prompt of the shell tells that a command has ended.
  const until = (pattern: RegExp): Promise<string> =>
    waitFor(String(pattern), () => {
      const screen = tmux('capture-pane', '-p', '-e', '-t', 'r');
      return pattern.test(plain(screen).trimEnd()) && screen.trimEnd();
    });
  try {
    const area = join(folder, 'demo');
    const run = `node ${join(ROOT, 'bin/run.js')} demo --keep ${area} --`;
    writeFileSync(
      join(folder, 'rc'),
      `PS1='$ '\nunset HISTFILE\nsteward() { ${run} "$@" 2>/dev/null; }\nsteward status >/dev/null; clear\n`,
    );
    const shell = `bash --noprofile --rcfile ${join(folder, 'rc')}`;
    tmux('new-session', '-d', '-s', 'r', '-x', `${COLUMNS}`, '-y', `${ROWS}`, shell);
    await until(/^\$$/);
    const frames: Frame[] = [];
    for (const [command, seconds] of SCENES) {
      tmux('send-keys', '-t', 'r', '-l', command);
      frames.push({ screen: await until(/steward [a-z ]+$/), seconds: TYPED_SECONDS });
      tmux('send-keys', '-t', 'r', 'Enter');
      frames.push({ screen: (await until(/\n\$$/)).replace(/\n[^\n]*$/, ''), seconds });
      tmux('send-keys', '-t', 'r', 'C-l');
      await until(/^\$$/);
    }
    return frames;
  } finally {
    spawnSync('tmux', ['-S', join(folder, 's'), 'kill-server'], { env });
    rmSync(folder, { recursive: true, force: true });
  }
}

function plain(screen: string): string {
  return screen.replace(/\u001b\[[\d;]*m/g, '');
}

/** A line of the pane as texts, each at its own column: no font can shift what comes after. */
function lineSvg(line: string, row: number): string {
  const y = CELL.margin + (row + 1) * CELL.height - 5;
  let style: Style = { color: undefined, isBold: false, isDim: false };
  let column = 0;
  return line
    .split(/(\u001b\[[\d;]*m)/)
    .map((part) => {
      const codes = /^\u001b\[([\d;]*)m$/.exec(part);
      if (codes !== null) {
        style = styled(style, (codes[1] ?? '').split(';').map(Number));
        return '';
      }
      const at = column + part.length - part.trimStart().length;
      column += [...part].length;
      const text = part.trim();
      return text === '' ? '' : `<text x="${x(at)}" y="${y}"${attributes(style)}>${escaped(text)}</text>`;
    })
    .join('');
}

const x = (column: number): string => (CELL.margin + column * CELL.width).toFixed(1).replace('.0', '');

function styled(style: Style, codes: readonly number[]): Style {
  return codes.reduce<Style>((now, code) => {
    if (code === 0) return { color: undefined, isBold: false, isDim: false };
    if (code === 1) return { ...now, isBold: true };
    if (code === 2) return { ...now, isDim: true };
    if (code === 39) return { ...now, color: undefined };
    const index = code >= 30 && code <= 37 ? code - 30 : code >= 90 && code <= 97 ? code - 82 : undefined;
    return index === undefined ? now : { ...now, color: PALETTE[index] };
  }, style);
}

function attributes({ color, isBold, isDim }: Style): string {
  const fill = color === undefined ? '' : ` fill="${color}"`;
  return `${fill}${isBold ? ' font-weight="bold"' : ''}${isDim ? ' opacity=".6"' : ''}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function picture(frames: readonly Frame[]): string {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  const width = Math.ceil(COLUMNS * CELL.width + 2 * CELL.margin);
  const height = ROWS * CELL.height + 2 * CELL.margin;
  let begun = 0;
  const parts = frames.map(({ screen, seconds }, i) => {
    const [from, to] = [begun, begun + seconds].map((at) => ((at / total) * 100).toFixed(2));
    begun += seconds;
    const lines = screen.split('\n').map((line, row) => lineSvg(line, row));
    const steps = `@keyframes f${i}{0%,${from}%{visibility:hidden}${from}%,${to}%{visibility:visible}${to}%,100%{visibility:hidden}}`;
    return {
      style: `${steps}.f${i}{animation:f${i} ${total}s step-end infinite}`,
      group: `<g class="f${i}">${lines.join('')}</g>`,
    };
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>steward in a terminal: the inbox, the sessions, the time by repository, and the day</title>
<style>text{font:${CELL.size}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${TEXT};white-space:pre}
${parts.map(({ style }) => style).join('\n')}
@media (prefers-reduced-motion:reduce){g{animation:none!important;visibility:hidden}.f1{visibility:visible!important}}</style>
<rect width="100%" height="100%" rx="8" fill="${BACK}"/>
${parts.map(({ group }) => group).join('\n')}
</svg>
`;
}

async function main(): Promise<void> {
  const svg = picture(await record());
  if (svg.length > MAX_BYTES) throw new Error(`${FILE} has ${svg.length} bytes; ${MAX_BYTES} at most.`);
  writeFileSync(FILE, svg);
  console.log(`docs/images/terminal.svg  ${Math.round(svg.length / 1024)} KiB`);
}

void main();
