import { type Palette, palette, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import type { Block, TextPart } from './blocks';

/** Returns the report wrapped and colored for a terminal, or as Markdown for a pipe. */
export function reportText(blocks: readonly Block[], terminal: Terminal): string {
  if (!terminal.isTTY) return reportMarkdown(blocks);
  const colors = palette(terminal);
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const lines = blocks.flatMap((block, index) => [
    ...(index > 0 && block.kind !== 'item' ? [''] : []),
    ...linesOf(block, columns, colors),
  ]);
  return lines.join('\n');
}

const MIN_COLUMNS = 24;

function linesOf(block: Block, columns: number, colors: Palette): string[] {
  if (block.kind === 'title') return wrap(block.text, columns).map(colors.strong);
  if (block.kind === 'heading') return wrap(block.text, columns).map(colors.creation);
  const [first, rest] = block.kind === 'item' ? ['  ', '    '] : ['', ''];
  const text = block.parts.map((part) => part.text).join('');
  return painted(wrap(text, columns, first, rest), block.parts, colors);
}

/**
 * Applies the colors of `parts` to wrapped lines. Counts only non-space characters, because wrapping changes
 * only whitespace.
 */
function painted(lines: readonly string[], parts: readonly TextPart[], colors: Palette): string[] {
  const tones = parts.flatMap(({ text, tone }) => [...text].filter((char) => char !== ' ').map(() => tone));
  let at = 0;
  return lines.map((line) => {
    const runs: { text: string; tone: TextPart['tone'] }[] = [];
    for (const char of line) {
      const last = runs.at(-1);
      const tone = char === ' ' ? last?.tone : tones[at];
      if (char !== ' ') at += 1;
      if (last !== undefined && last.tone === tone) last.text += char;
      else runs.push({ text: char, tone });
    }
    return runs.map(({ text, tone }) => paint(text, tone, colors)).join('');
  });
}

function paint(text: string, tone: TextPart['tone'], colors: Palette): string {
  if (tone === 'strong') return colors.strong(text);
  if (tone === 'quiet') return colors.neutral(text);
  return text;
}

/** Returns the report as Markdown that is also readable as plain text, for example in a chat message. */
export function reportMarkdown(blocks: readonly Block[]): string {
  const lines: string[] = [];
  for (const block of blocks) {
    if (block.kind !== 'item' && lines.length > 0) lines.push('');
    if (block.kind === 'item' && lines.at(-1)?.startsWith('#') === true) lines.push('');
    if (block.kind === 'title') lines.push(`# ${plain(block.text, false)}`);
    else if (block.kind === 'heading') lines.push(`## ${plain(block.text, false)}`);
    else lines.push(`${block.kind === 'item' ? '- ' : ''}${block.parts.map(partText).join('')}`);
  }
  return `${lines.join('\n')}\n`;
}

function partText({ text, tone, url }: TextPart, index: number): string {
  const target = url === undefined ? undefined : safeUrl(url);
  if (target !== undefined) return `[${escaped(text, false)}](${target})`;
  return tone === 'strong' ? `**${escaped(text, false)}**` : plain(text, index === 0);
}

/** Returns the URL with escaped parentheses, or undefined if it is unsafe in Markdown. */
function safeUrl(url: string): string | undefined {
  if (!/^https?:\/\/[^\s<>"'`\\^{|}]+$/i.test(url)) return undefined;
  return url.replace(/[()]/g, (char) => (char === '(' ? '%28' : '%29'));
}

/** Matches text that GitHub turns into a link or mention: `@ann`, `#12`, `GH-12` and plain URLs. */
const REFERENCE =
  /(?<![\p{L}\p{N}_])@[\p{L}\p{N}][\p{L}\p{N}_/-]*|#\d+|\bGH-\d+|(?:\bhttps?:\/\/|\bwww\.)[^\s`]+/giu;

/**
 * Escapes Markdown and HTML syntax. Formats references as code, because a backslash doesn't stop GitHub from
 * linking them.
 * @param isStart Whether the text is at the start of a line.
 */
export function plain(text: string, isStart: boolean): string {
  let at = 0;
  let escapedText = '';
  for (const { 0: reference, index } of text.matchAll(REFERENCE)) {
    escapedText += `${escaped(text.slice(at, index), isStart && at === 0)}\`${reference}\``;
    at = index + reference.length;
  }
  return escapedText + escaped(text.slice(at), isStart && at === 0);
}

function escaped(text: string, isStart: boolean): string {
  const marked = text
    .replace(/[\\`*[\]<|~$]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/&(?=#?\w+;)/g, '&amp;');
  if (!isStart) return marked.replace(/ (#+)$/, ' \\$1');
  return marked.replace(/^(\s*)([#>+=-])/, '$1\\$2').replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}
