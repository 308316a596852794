import { errnoCode, StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { parentsOf } from '../platform/process/own-terminal';
import type { GoDeps } from './go-deps';

const TIMEOUT_MS = 5000;

/**
 * Focuses the kitty window in which a process runs, through the socket of its kitty. Gives the window's id;
 * undefined: there is no socket of this machine, no kitty answers there, or none of its windows has the process.
 */
export async function focusKitty(
  deps: GoDeps,
  pid: number,
  socket: string | undefined,
): Promise<string | undefined> {
  // A kitty may listen on the network, too; what is there is not this machine's.
  if (socket?.startsWith('unix:') !== true) return undefined;
  const listed = await kitty(deps, socket, ['ls']);
  const own = new Set([pid, ...parentsOf(pid)]);
  const id = windowsIn(listed).find((window) => own.has(window.pid))?.id;
  if (id === undefined) return undefined;
  const focused = await kitty(deps, socket, ['focus-window', '--match', `id:${id}`]);
  return focused === undefined ? undefined : String(id);
}

/** What `kitty @ ls` prints: system windows with tabs with windows. */
function windowsIn(text: string | undefined): { id: number; pid: number }[] {
  return parsed(text)
    .flatMap((system) => objects(system['tabs']))
    .flatMap((tab) => objects(tab['windows']))
    .flatMap(({ id, pid }) =>
      Number.isSafeInteger(id) && Number.isSafeInteger(pid) ? [{ id: Number(id), pid: Number(pid) }] : [],
    );
}

function parsed(text: string | undefined): Record<string, unknown>[] {
  if (text === undefined) return [];
  try {
    return objects(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** What kitty answers; undefined where there is none, or it refuses. */
async function kitty(
  { run, env }: GoDeps,
  socket: string,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const asked = ['@', '--to', socket, ...args];
    const { code, stdout } = await run('kitty', asked, { env, timeoutMs: TIMEOUT_MS });
    return code === 0 ? stdout : undefined;
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'not_found' && errnoCode(error.cause) === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
