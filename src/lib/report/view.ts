import { palette, toAscii, wrap, type Palette } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import type { Block, Part } from './blocks';
import { reportMarkdown } from './markdown';

/** For a terminal the report in colours and lines of its width; for a pipe the Markdown. */
export function reportText(blocks: readonly Block[], terminal: Terminal): string {
  if (!terminal.isTTY) return reportMarkdown(blocks);
  const colors = palette(terminal);
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const lines = blocks.flatMap((block, index) => [
    ...(index > 0 && block.kind !== 'item' ? [''] : []),
    ...linesOf(block, columns, colors),
  ]);
  const text = lines.join('\n');
  return terminal.unicode ? text : toAscii(text.replaceAll('→', '>'));
}

const MIN_COLUMNS = 24;

function linesOf(block: Block, columns: number, colors: Palette): string[] {
  if (block.kind === 'title') return wrap(block.text, columns).map(colors.strong);
  if (block.kind === 'heading') return wrap(block.text, columns).map(colors.creation);
  const [first, rest] = block.kind === 'item' ? ['  ', '    '] : ['', ''];
  const text = block.parts.map((part) => part.text).join('');
  return painted(wrap(text, columns, first, rest), block.parts, colors);
}

/** The lines with the tones of their parts: wrapping changes white space only, so the characters are counted off. */
function painted(lines: readonly string[], parts: readonly Part[], colors: Palette): string[] {
  const tones = parts.flatMap(({ text, tone }) => [...text].filter((char) => char !== ' ').map(() => tone));
  let at = 0;
  return lines.map((line) => {
    const runs: { text: string; tone: Part['tone'] }[] = [];
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

function paint(text: string, tone: Part['tone'], colors: Palette): string {
  if (tone === 'strong') return colors.strong(text);
  if (tone === 'quiet') return colors.neutral(text);
  return text;
}
