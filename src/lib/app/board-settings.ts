import { ENVIRONMENT } from '../config/environment';
import type { WorkConfig, WorkRepoConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { processHost } from '../platform/files/paths';
import { marksOf } from '../platform/files/stat';
import { keep, readKept } from './hook-settings';

/** What the board needs of the configuration. */
export interface BoardSettings {
  work: WorkConfig;
  workRepo: WorkRepoConfig;
}

interface Kept extends BoardSettings {
  marks: string;
}

/** What was kept of just this configuration; undefined when a file or a variable of it has changed since. */
export function keptBoardSettings(area: UserArea): BoardSettings | undefined {
  const { marks, work, workRepo } = readKept<Kept>('board', area) ?? {};
  if (work === undefined || workRepo === undefined) return undefined;
  return marks === boardMarks(area) ? { work, workRepo } : undefined;
}

/** Keeps the settings that were read when the configuration had these marks. */
export function keepBoardSettings(area: UserArea, marks: string, { work, workRepo }: BoardSettings): void {
  const kept: Kept = { marks, work, workRepo };
  if (readKept<Kept>('board', area)?.marks !== marks) keep('board', area, kept);
}

/** The files of the configuration; a test compares them with the loader's. */
export function configPaths(area: UserArea): string[] {
  return [area.config, area.settings, area.sense.config, area.work.config, area.work.repo];
}

/**
 * All that the loader reads: a part that has nothing to do with the board may be wrong, which is an error of every
 * command. Of a secret variable only whether it is set: the kept file is no place for secrets.
 */
export function boardMarks(area: UserArea): string {
  const { env } = processHost();
  const variables = ENVIRONMENT.map(({ name, secret }) => {
    const value = env[name] ?? '';
    return secret === true && value !== '' ? 'set' : value;
  });
  return `${marksOf(configPaths(area)).text}${variables.join('\n')}`;
}
