import { clean } from '../platform/terminal/terminal';

const REDACTED = '[redacted]';

const CREDENTIALS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,60}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,60}PRIVATE KEY-----|$)/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|rk_live_|sk_live_|pk_live_|hf_|npm_|AIza|ya29\.)[\w.-]{12,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\bbearer\s{1,9}[\w.~+/-]{12,}=*/gi,
];
const BASIC_AUTH = /\b(basic)(\s{1,9})([\w+/-]{8,}=*)/gi;
/** Matches the password in `scheme://user:password@host`. */
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*):[^\s/@]+@/gi;
/** Matches the value in `password: …`, `API_KEY=…`, `the token is …`. */
const NAMED_SECRET =
  /(?<![a-z0-9])(password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)(\s{0,9}[:=]\s{0,9}|\s{1,9}is\s{1,9})("[^"]*"|'[^']*'|[^\s,;]+)/gi;

/** Redacts anything that looks like a credential. */
export function redact(text: string): string {
  return CREDENTIALS.reduce((rest, pattern) => rest.replace(pattern, REDACTED), text)
    .replace(BASIC_AUTH, (all, name: string, space: string, value: string) =>
      isUserAndPassword(value) ? `${name}${space}${REDACTED}` : all,
    )
    .replace(URL_PASSWORD, (_, before: string) => `${before}:${REDACTED}@`)
    .replace(NAMED_SECRET, (_, name: string, between: string) => `${name}${between}${REDACTED}`);
}

/** Distinguishes a base64-encoded `user:password` from a word such as "authentication". */
function isUserAndPassword(value: string): boolean {
  return /^[^\p{Cc}\ufffd:]*:[^\p{Cc}\ufffd]*$/u.test(Buffer.from(value, 'base64').toString());
}

/** Formats text as inline code, in which GitHub ignores mentions, links and markup. */
export function codeSpan(text: string): string {
  return `\`${singleLine(text).replaceAll('`', "'")}\``;
}

/** Formats text as a fenced code block. The fence is longer than any fence in the text. */
export function codeBlock(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length + 1);
  const fence = '`'.repeat(Math.max(3, ...runs));
  return `${fence}text\n${text}\n${fence}`;
}

/** Escapes text for a Markdown file, so that it is shown without markup or links. */
export function escapeMarkdown(text: string): string {
  return singleLine(text)
    .replace(/[\\`*_[\]<>|~#&!@]/g, (char) => `\\${char}`)
    .replaceAll('://', ':\\//')
    .replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}\\.`);
}

function singleLine(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}
