import type { Budget } from '../../../src/lib/config/model-prices';
import { announceOnce } from '../budgets';

const [folder = '', budgets = ''] = process.argv.slice(2);
void announceOnce(folder, JSON.parse(budgets) as Budget[]).then(() => console.log('done'));
