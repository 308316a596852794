import { palette } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import type { FoundSession } from './find';
import { marked, type FindTerm } from './find-words';

export function foundText(
  { assistant, session, at, repo, by, line, resume }: FoundSession,
  terms: readonly FindTerm[],
  { localTime, ...terminal }: Pick<Terminal, 'color'> & { localTime: (iso: string) => string },
): string {
  const { strong, attention, neutral } = palette(terminal);
  return [
    strong(`${localTime(at)} · ${repo ?? 'no repository'} · ${assistant}`),
    `  ${by}: ${marked(terms, line, attention)}`,
    neutral(`  ${resume ?? `session ${session}`}`),
    '\n',
  ].join('\n');
}
