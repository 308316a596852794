import type { DaemonReport } from '../../daemon/view';
import type { Config } from '../../config/schema';
import type { Context } from '../../app/context';
import type { JobsHere } from '../../app/schedule';
import type { JobId } from '../../schedule/job';
import type { Part } from './part';

/** What a part says of itself; its id is given to it. */
export type Row = Omit<Part, 'id'>;

/** What the parts are told of, each by the function that its own command calls. */
export interface Sources {
  context: Context;
  /** The folder of steward's package.json. */
  root: string;
  config: Config;
  daemon: DaemonReport;
  /** `unknown`: it could not be asked, which the row `jobs` says. */
  scheduler: JobsHere | 'unknown' | undefined;
  /** The local time of an ISO-8601 time. */
  localTime: (iso: string) => string;
}

/** Is the job registered? Undefined where the scheduler could not be asked. */
export function isInstalled({ scheduler }: Pick<Sources, 'scheduler'>, id: JobId): boolean | undefined {
  if (scheduler === 'unknown') return undefined;
  return scheduler?.jobs.some(({ job, installed }) => job === id && installed) === true;
}
