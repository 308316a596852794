import { foldId, foldName } from './classify';

export type AppMatcher = (app: { app: string; bundleId?: string }) => boolean;

/**
 * Does an application stand in the list? Entries are whole names or ids, without case; one with `*` or `?` is
 * a glob over the same. Never a part of a name: "x" is not Excel.
 */
export async function appMatcher(entries: readonly string[]): Promise<AppMatcher> {
  const isGlob = (entry: string): boolean => /[*?]/.test(entry);
  const names = new Set(entries.filter((entry) => !isGlob(entry)).map(foldName));
  const ids = new Set(entries.filter((entry) => !isGlob(entry)).map(foldId));
  const globs = await globMatcher(entries.filter(isGlob).map(foldName));
  return ({ app, bundleId }) => {
    if (names.has(foldName(app)) || globs(foldName(app))) return true;
    return bundleId !== undefined && (ids.has(foldId(bundleId)) || globs(foldName(bundleId)));
  };
}

async function globMatcher(globs: readonly string[]): Promise<(text: string) => boolean> {
  if (globs.length === 0) return () => false;
  const { default: picomatch } = await import('picomatch');
  return picomatch(globs.map(onlyWildcards), { nocase: true, dot: true, bash: true });
}

/** Names have brackets, braces and bangs of their own: only `*` and `?` are wild here. */
function onlyWildcards(glob: string): string {
  return glob.replace(/[\\[\](){}!+@|,^$.]/g, '\\$&');
}
