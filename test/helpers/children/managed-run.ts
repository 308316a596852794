// Runs a hosted session, or goes on with the one that a killed run has left, as the commands do; with short pauses.
import { answersBy } from '../../../src/lib/agents/managed/send';
import { managedClient } from '../../../src/lib/agents/managed/client';
import { follow } from '../../../src/lib/agents/managed/follow';
import { localSessions, startSession, wakeSession } from '../../../src/lib/agents/managed/sessions';
import type { Timing } from '../../../src/lib/agents/managed/failure';
import { openSessionLog } from '../../../src/lib/agents/managed/session-log';
import { toJsonLine } from '../../../src/lib/platform/terminal/error-report';
import { toStewardError, EXIT_CODES } from '../../../src/lib/errors';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { listFolder } from '../../../src/lib/platform/files/folder';
import { openOrigin } from '../../../src/lib/platform/net/origin-client';
import { standardOutput } from '../../../src/lib/platform/terminal/stdio';

export interface RunInput {
  url: string;
  folder: string;
  agent: string;
  environment: string;
  message: string;
  timing: Timing;
  allow: string[];
}

async function main(input: RunInput): Promise<number> {
  const clock = systemClock();
  const http = await openOrigin(input.url, { hint: 'Look at the test.' });
  const client = managedClient({ http, clock, credential: { apiKey: 'k' }, credentialFrom: 'the test' });
  const { folder, timing, message, agent, environment } = input;
  const deps = { client, clock, timing, folder, alone: <T>(_: string, work: () => Promise<T>) => work() };
  try {
    const isLeft =
      localSessions(folder).length > 0 || listFolder(folder).some((name) => name.endsWith('.start.json'));
    const started = isLeft
      ? await wakeSession(deps, undefined, undefined)
      : { session: await startSession(deps, { agent, environment, message }) };
    const log = openSessionLog(folder, started.session, { output: standardOutput(), render: toJsonLine });
    const policy = { allow: input.allow, deny: [] };
    const end = await follow(
      {
        ...deps,
        log,
        answer: (pending) => Promise.resolve(answersBy(policy, pending)),
        say: () => undefined,
      },
      { ...started, until: 'turn' },
    );
    return end.outcome.kind === undefined ? 0 : EXIT_CODES[end.outcome.kind];
  } catch (error) {
    const known = toStewardError(error);
    process.stderr.write(`${known.kind}: ${known.stack ?? known.message}\n`);
    return EXIT_CODES[known.kind];
  } finally {
    await http.close();
  }
}

void main(JSON.parse(process.argv[2] ?? '') as RunInput).then((code) => {
  process.exitCode = code;
});
