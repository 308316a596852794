import { join } from 'node:path';

import { openSharing } from '../../app/sharing';
import { openSync, publishNow } from '../../app/sync';
import type { Context } from '../../app/context';
import { StewardError } from '../../errors';
import { removeFile } from '../../platform/files/folder';
import { purgeClone } from '../../sync/clone';
import { noFolder } from '../../sync/folder';
import { machineFolderOf } from '../../sync/publish';
import {
  groupOf,
  latestAt,
  nameOf,
  planShared,
  readShared,
  SHARED_FILE,
  KNOWN_FILE,
} from '../../sync/settings';
import { readState, writeState } from '../../sync/state';

/** Returns whether this machine shares settings, and which it shares or would share. */
export async function sharedSettings(context: Context) {
  const { deps } = await openSync(context);
  const { entries } = await planShared(await openSharing(context, deps.folder).open());
  return {
    settings: readState(deps.state).settings === true ? 'on' : 'off',
    entries: Object.keys(entries).filter((key) => entries[key]?.value !== null),
  };
}

/** Begins or ends sharing settings. What other machines shared stays on this machine. */
export async function chooseSharing(context: Context, isOn: boolean): Promise<void> {
  const { folder, deps, locked } = await openSync(context);
  if (folder === undefined) throw noFolder();
  await locked(() => {
    const { settingsMark, ...state } = readState(deps.state);
    writeState(deps.state, { ...state, settings: isOn });
    if (isOn || settingsMark === undefined) return;
    removeFile(join(machineFolderOf(deps), SHARED_FILE));
    removeFile(join(context.area.machine, KNOWN_FILE));
  });
  if (!isOn) await purgeClone(context);
  await publishNow(context);
}

/** Replaces a setting by the value of another machine that lost against it. */
export async function takeOther(context: Context, key: string): Promise<void> {
  const { deps } = await openSync(context);
  const { nowMs, known, groups } = await openSharing(context, deps.folder).open();
  const { other } = readShared(known, latestAt(nowMs))[key] ?? {};
  if (other === undefined) {
    throw new StewardError('not_found', `${JSON.stringify(key)} has no other value.`, {
      hint: 'Use an entry that "steward sync status" lists, such as goal/G1.',
    });
  }
  await groups[groupOf(key)]?.write(new Map([[nameOf(key), other.value]]));
  await publishNow(context);
}
