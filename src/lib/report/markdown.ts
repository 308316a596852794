import type { Block, Part } from './blocks';

/** The report as Markdown that is read as it is pasted: a chat, an issue, a page. The same report, the same bytes. */
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

function partText({ text, tone, url }: Part, index: number): string {
  const target = url === undefined ? undefined : safeUrl(url);
  if (target !== undefined) return `[${plain(text, false)}](${target})`;
  return tone === 'strong' ? `**${plain(text, false)}**` : plain(text, index === 0);
}

/** A link to a page of the web, or none. */
function safeUrl(url: string): string | undefined {
  if (!/^https?:\/\/[^\s<>"'`\\^{|}]+$/i.test(url)) return undefined;
  return url.replace(/[()]/g, (char) => (char === '(' ? '%28' : '%29'));
}

/**
 * A text from elsewhere as plain text: what Markdown or HTML would read as more is escaped, and no more than that,
 * for it is read unrendered, too.
 *
 * @param isStart it begins a line, where some characters make a heading, a list or a quote of it
 */
export function plain(text: string, isStart: boolean): string {
  const escaped = text
    .replace(/[\\`*[\]<|~$]/g, '\\$&')
    // Within a word it is only an underscore.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/&(?=#?\w+;)/g, '&amp;');
  if (!isStart) return escaped.replace(/ (#+)$/, ' \\$1');
  return escaped.replace(/^(\s*)([#>+=-])/, '$1\\$2').replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}
