import { clean } from '../platform/terminal/terminal';

/** A text from elsewhere as a code span: nobody is mentioned there, nothing is linked, and nothing is markup. */
export function codeSpan(text: string): string {
  return `\`${lineOf(text).replaceAll('`', "'")}\``;
}

/** The same of several lines. */
export function codeBlock(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length + 1);
  const fence = '`'.repeat(Math.max(3, ...runs));
  return `${fence}text\n${text}\n${fence}`;
}

/** The same as plain text of a file: no markup, and no address becomes a link. */
export function escaped(text: string): string {
  return lineOf(text)
    .replace(/[\\`*_[\]<>|~#&!@]/g, (char) => `\\${char}`)
    .replaceAll('://', ':\\//')
    .replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}\\.`);
}

function lineOf(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}
