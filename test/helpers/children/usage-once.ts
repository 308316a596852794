import { collectUsage } from '../../../src/lib/usage/collect';
import { usageBox } from '../usage';

/** Reads the logs below a folder once. */
const { deps } = usageBox(process.argv[2] ?? '');
void collectUsage(deps).then(() => console.log('done'));
