/** A word of a POSIX shell that stands for exactly this text. */
export function forShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
