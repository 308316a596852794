import { clean } from '../../platform/terminal/terminal';
import { redacted } from '../redact';

/** UTF-16 units: three bytes each at most, so that an intention with one stays below what the spool reads. */
export const MAX_PROMPT = 16_000;

/**
 * What is kept of a whole prompt (WORK.CAPTURE_PROMPT): its lines, credentials taken out first, then cut. A secret
 * that the cut would halve is known as a whole before.
 */
export function wholePrompt(prompt: string): string {
  const lines = prompt.split(/\r\n|[\n\r\u2028\u2029]/);
  const text = lines.map((line) => clean(line.replaceAll('\t', '    ')).trimEnd()).join('\n');
  const safe = redacted(text)
    .trim()
    .replace(/\p{Surrogate}/gu, '\ufffd');
  if (safe.length <= MAX_PROMPT) return safe;
  return `${safe.slice(0, MAX_PROMPT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The body of its issue. Within a fence nobody is mentioned, no issue linked, and nothing of it is markup. */
export function promptBody(prompt: string | undefined): string {
  if (prompt === undefined) return 'Captured from a prompt.';
  const longest = Math.max(2, ...[...prompt.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `Captured from a prompt:\n\n${fence}text\n${prompt}\n${fence}`;
}
