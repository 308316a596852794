import type { DaemonReport } from '../../daemon/view';
import type { Config } from '../../config/schema';
import type { Context } from '../../app/context';
import type { JobsHere } from '../../app/schedule';
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
  scheduler: JobsHere | undefined;
  /** The local time of an ISO-8601 time. */
  localTime: (iso: string) => string;
}
