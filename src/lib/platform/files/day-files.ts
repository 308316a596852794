import { isDay, type Day } from '../time/time';
import { listFolder } from './folder';

/** Returns the days for which a folder has a file with this ending, in order. */
export function daysIn(folder: string, end = '.json'): Day[] {
  return daysNamed(listFolder(folder), end);
}

/** Returns the days in the names of files with this ending, in order. */
export function daysNamed(names: readonly string[], end: string): Day[] {
  return names
    .filter((name) => name.endsWith(end))
    .map((name) => name.slice(0, -end.length))
    .filter(isDay)
    .sort();
}
