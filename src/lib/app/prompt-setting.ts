import type { WorkConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { markOfTarget } from '../platform/files/stat';
import type { Context } from './context';
import { keep, readKept } from './hook-settings';

/** How much of a prompt is kept in which something matched. */
export type PromptSetting = WorkConfig['CAPTURE_PROMPT'];

interface Kept {
  /** Of work/config.yaml, which no variable stands over. */
  mark: string;
  setting: PromptSetting;
}

/** The setting as it was kept; undefined when work/config.yaml has changed since: then the loader is asked. */
export function keptPromptSetting(area: UserArea): PromptSetting | undefined {
  const mark = markOfTarget(area.work.config);
  if (mark === undefined) return 'line';
  const kept = readKept<Kept>('prompt', area);
  return kept?.mark === mark && (kept.setting === 'line' || kept.setting === 'whole')
    ? kept.setting
    : undefined;
}

/** The setting, from the loader where that is needed; where that cannot read the configuration, the line is enough. */
export async function promptSetting(context: Pick<Context, 'area' | 'loadConfig'>): Promise<PromptSetting> {
  const { area } = context;
  try {
    const kept = keptPromptSetting(area);
    if (kept !== undefined) return kept;
    const mark = markOfTarget(area.work.config);
    const setting = (await context.loadConfig()).config.work.CAPTURE_PROMPT;
    if (mark !== undefined) keep('prompt', area, { mark, setting } satisfies Kept);
    return setting;
  } catch (error) {
    if (toStewardError(error).kind === 'internal') throw error;
    return 'line';
  }
}
