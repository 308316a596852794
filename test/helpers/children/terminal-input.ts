import { run } from '../../../src/lib/platform/process/process';
import { lastTerminalInput } from '../../../src/lib/sessions/terminal-input';

/** Says where the last input was. */
void lastTerminalInput({ run, env: process.env }).then((input) => console.log(JSON.stringify(input ?? null)));
