import { machineId } from '../../../src/lib/platform/machine';

process.stdout.write(machineId(process.argv[2]));
