import { machineId } from '../../../src/lib/platform/files/machine';

process.stdout.write(machineId(process.argv[2]));
