import { table, wrap } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import { IMPORT_KINDS, type ImportItem, type ImportState } from './item';
import type { ImportResult } from './index';

const MAX_NAMED = 20;

/** What is there, by kind, then what is not imported and why. */
export function importText(
  { from, items, cut }: Pick<ImportResult, 'from' | 'items' | 'cut'>,
  options: { columns: number },
): string {
  if (items.length === 0) {
    return [`Nothing that steward could import lies in ${clean(from)}.`, ...cutLines(cut)].join('\n');
  }
  const rows = IMPORT_KINDS.flatMap((kind) => {
    const own = items.filter((item) => item.kind === kind);
    if (own.length === 0) return [];
    const count = (state: ImportState): string => String(own.filter((item) => item.state === state).length);
    return [[kind, count('new'), count('there'), count('conflict'), count('unfit')]];
  });
  const right = { align: 'right' as const };
  const left = items.filter(({ state }) => state === 'conflict' || state === 'unfit');
  return [
    table([['', 'new', 'there', 'conflict', 'unfit'], ...rows], [{}, right, right, right, right]),
    ...(left.length === 0
      ? []
      : ['', 'Not imported:', ...left.slice(0, MAX_NAMED).flatMap((item) => leftLines(item, options))]),
    ...(left.length > MAX_NAMED ? [`  and ${left.length - MAX_NAMED} more, which --json lists`] : []),
    ...cutLines(cut),
  ].join('\n');
}

function leftLines({ from, to, why }: ImportItem, { columns }: { columns: number }): string[] {
  const isSetting = to !== '' && !/[/\\]/.test(to);
  const what = isSetting ? `${clean(to)} in ${clean(from)}` : clean(from);
  return [`  ${what}`, ...wrap(clean(why ?? ''), Math.max(40, columns), '    ')];
}

function cutLines(cut: boolean): string[] {
  return cut ? ['There is more in that folder than was looked through: name a folder further down.'] : [];
}
