// npm start: build, then `steward up --yes` in this very process, so that what ends npm ends the daemon.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import './build.mjs';
import { ROOT } from './bundle.mjs';

const bin = join(ROOT, 'bin', 'run.js');
process.argv = [process.argv[0], bin, 'up', '--yes', ...process.argv.slice(2)];
await import(pathToFileURL(bin).href);
