const REDACTED = '[redacted]';

/** Texts that open a door: nothing that looks like one leaves the machine. */
const CREDENTIALS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|rk_live_|sk_live_|pk_live_|hf_|npm_|AIza|ya29\.)[\w.-]{12,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\b(?:bearer|basic)\s+[\w.~+/-]{12,}=*/gi,
];
/** `scheme://user:password@host`: the password. */
const IN_ADDRESS = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi;
/** `password: …`, `API_KEY=…`, `the token is …`: what comes after the name. */
const NAMED =
  /\b((?:[\w-]*[_-])?(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key))(\s*[:=]\s*|\s+is\s+)("[^"]*"|'[^']*'|[^\s,;]+)/gi;

/** A text without what looks like a credential in it. */
export function redacted(text: string): string {
  const known = CREDENTIALS.reduce((rest, pattern) => rest.replace(pattern, REDACTED), text);
  return known
    .replace(IN_ADDRESS, (_, before: string) => `${before}:${REDACTED}@`)
    .replace(NAMED, (_, name: string, between: string) => `${name}${between}${REDACTED}`);
}
