import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { StewardError, toStewardError } from '../../errors';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder, listFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { bury } from '../../platform/files/graveyard';
import { parseObject } from '../../platform/files/json-object';
import { cleanLine } from '../../platform/terminal/terminal';
import type { Resource } from './client';
import { textOf } from './event';
import { isNothingDone, mayHaveLanded } from './failure';
import { prepareFirst, type SendDeps } from './outbox';
import { deadMessages } from './retention';
import { once, repeated } from './retry';
import { isId } from './session-id';

export interface StartInput {
  agent: string;
  environment: string;
  message: string;
  title?: string;
  vaults?: readonly string[];
  /** USD. */
  budget?: number;
}

/** A session that is being made: written down before, so that a killed run makes one session and not two. */
interface Start extends StartInput {
  nonce: string;
}

/** The member of a session's metadata by which the one who made it finds it again. */
const NONCE = 'steward_run';
const PAGES = 5;

/** Makes a session and writes its first message down, to be sent once somebody follows it. Gives the session's id. */
export async function startSession(deps: SendDeps, input: StartInput): Promise<string> {
  const start = { nonce: randomUUID(), ...input };
  const path = join(deps.folder, `${start.nonce}.start.json`);
  ensureFolder(deps.folder);
  replaceFile(path, `${JSON.stringify(start)}\n`);
  return complete(deps, start, { path, wasTried: false });
}

/** Goes on with the session that a killed process was about to make, the latest; undefined when there is none. */
export async function resumeStart(deps: SendDeps): Promise<string | undefined> {
  const left = listFolder(deps.folder)
    .filter((name) => name.endsWith('.start.json'))
    .map((name) => join(deps.folder, name))
    .sort((a, b) => (lstatOf(b)?.mtimeMs ?? 0) - (lstatOf(a)?.mtimeMs ?? 0));
  for (const path of left) {
    const start = parseObject(readText(path) ?? '');
    if (isStart(start)) return complete(deps, start, { path, wasTried: true });
    bury(deadMessages(deps.folder), path, { atMs: deps.clock.now(), reason: 'the file cannot be read' });
  }
  return undefined;
}

/** A file that says less than a session needs is none that a run has left. */
function isStart(value: Record<string, unknown> | undefined): value is Record<string, unknown> & Start {
  return ['nonce', 'agent', 'environment', 'message'].every((key) => textOf(value, key) !== undefined);
}

async function complete(
  deps: SendDeps,
  start: Start,
  { path, wasTried }: { path: string; wasTried: boolean },
): Promise<string> {
  let session: Resource;
  let certain = !wasTried;
  try {
    const found = wasTried ? await repeated(deps, () => findByNonce(deps, start)) : undefined;
    session =
      found ??
      (await once(
        deps,
        () => deps.client.create('sessions', bodyOf(start)),
        () => findByNonce(deps, start),
        (error) => {
          certain = isNothingDone(error);
          return mayHaveLanded(error);
        },
      ));
  } catch (error) {
    // Refused: nothing was made, and nothing will be. What is uncertain stays, for a wake.
    if (certain && isNothingDone(error)) {
      removeFile(path);
      throw error;
    }
    const known = toStewardError(error);
    throw new StewardError(known.kind, known.message, {
      hint: 'The session may have been made: "steward agents managed wake" finds out, and goes on with it.',
      cause: known,
    });
  }
  if (!isId(session.id)) {
    throw new StewardError(
      'unavailable',
      `${deps.client.host} made a session with an id that is none: ${cleanLine(session.id, 80)}`,
      { hint: 'Check agents.managed.url. Nothing was sent to that session.' },
    );
  }
  prepareFirst(deps.folder, session.id, start.message);
  removeFile(path);
  return session.id;
}

function bodyOf(start: Start): Record<string, unknown> {
  return {
    agent: start.agent,
    environment_id: start.environment,
    metadata: { [NONCE]: start.nonce },
    ...(start.title === undefined ? {} : { title: start.title }),
    ...(start.vaults === undefined || start.vaults.length === 0 ? {} : { vault_ids: start.vaults }),
    ...(start.budget === undefined ? {} : { budget: budgetOf(start.budget) }),
  };
}

/** The service's own hard limit, in cents as a text. */
function budgetOf(usd: number): Record<string, unknown> {
  const cents = Math.max(1, Math.round(usd * 100));
  return { type: 'limit', max_list_cost: { amount: String(cents), currency: 'USD' } };
}

async function findByNonce({ client }: SendDeps, start: Start): Promise<Resource | undefined> {
  let page: string | undefined;
  for (let read = 0; read < PAGES; read += 1) {
    const found = await client.list('sessions', [
      ['agent_id', start.agent],
      ['order', 'desc'],
      ['limit', '100'],
      ...(page === undefined ? [] : [['page', page] as const]),
    ]);
    const own = found.data.find(({ metadata }) => textOf(metadata, NONCE) === start.nonce);
    if (own !== undefined || found.next === undefined) return own;
    page = found.next;
  }
  return undefined;
}
