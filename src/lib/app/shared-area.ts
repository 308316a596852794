import { areaAt, claimArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { ensureFolder } from '../platform/files/folder';
import { takeOverFormer } from '../platform/files/former-ids';
import { takeUpAll } from '../platform/files/take-up';
import { machinesFolder } from '../sync/exchange';
import type { Context } from './context';

/**
 * Checks the area's owner before a capture. Returns the problems. Throws `conflict` if this machine now writes to
 * another folder of the area.
 */
export async function prepareArea({ area, clock }: Pick<Context, 'area' | 'clock'>): Promise<string[]> {
  try {
    const { id } = claimArea(area);
    // Move items that this machine queued in the area's root before it detected that another machine owns the
    // area.
    if (area.place !== '') takeUpAll(areaAt(area.root, '', area.host), area, { ids: [id], to: id });
    await takeOverFormer(area, clock);
    if (area.exchange !== undefined) ensureFolder(machinesFolder(area.exchange));
    return [];
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal' || kind === 'conflict') throw error;
    return [`cannot determine which machines write to this area: ${message}`];
  }
}
