/** Does a YAML text hold nothing but comments and blank lines? */
export function isOnlyComments(source: string): boolean {
  const lines = source.replace(/^\ufeff/, '').split('\n');
  return lines.every((line) => /^[ \t]*(?:#|\r?$)/.test(line));
}
