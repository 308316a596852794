import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { factsOf, pathOf, variableOf } from '../platform/process/own-terminal';
import { foregroundOf, leadersOf, programOf, type Pty } from '../platform/process/pty';
import { answerOf, type TerminalDeps } from './terminals';

/** Maximum number of panes to ask for their process. */
const MAX_PANES = 64;

export interface HerdrPane {
  /** The pane's current id, such as `w1:p2`. */
  id: string;
  /** The process that herdr started in the pane. */
  shell: number;
}

/** Returns the result of a herdr command; undefined if herdr is missing or refuses. */
export async function askHerdr(deps: TerminalDeps, socket: string | undefined, args: readonly string[]) {
  // herdr would take the calling pane's id for the wanted one.
  const env = { ...deps.env, HERDR_SOCKET_PATH: socket, HERDR_PANE_ID: undefined };
  const text = await answerOf({ run: deps.run, env }, 'herdr', args);
  const result = parseObject(text ?? '')?.['result'];
  return isObject(result) ? result : undefined;
}

/** Returns the pane with this id or, without one, all panes. */
export async function herdrPanes(
  deps: TerminalDeps,
  socket: string | undefined,
  id: string | undefined,
): Promise<HerdrPane[]> {
  const ids = id === undefined ? await idsOfPanes(deps, socket) : [id];
  const found = await Promise.all(ids.slice(0, MAX_PANES).map((pane) => processOf(deps, socket, pane)));
  return found.filter((pane) => pane !== undefined);
}

async function idsOfPanes(deps: TerminalDeps, socket: string | undefined): Promise<string[]> {
  const panes = (await askHerdr(deps, socket, ['pane', 'list']))?.['panes'];
  return (Array.isArray(panes) ? panes : []).flatMap(
    (pane) => textOf(isObject(pane) && pane['pane_id']) ?? [],
  );
}

const ID = /^[\w:.-]{1,100}$/;

async function processOf(
  deps: TerminalDeps,
  socket: string | undefined,
  pane: string,
): Promise<HerdrPane | undefined> {
  if (!ID.test(pane)) return undefined;
  const info = (await askHerdr(deps, socket, ['pane', 'process-info', '--pane', pane]))?.['process_info'];
  if (!isObject(info)) return undefined;
  const [id, shell] = [textOf(info['pane_id']) ?? '', info['shell_pid']];
  return ID.test(id) && typeof shell === 'number' ? { id, shell } : undefined;
}

/** Returns the terminal and process of the pane that a herdr client shows. Works only on Linux. */
export async function paneOfHerdr(deps: TerminalDeps, client: number): Promise<Pty | undefined> {
  const socket = variableOf(client, 'HERDR_SOCKET_PATH');
  const current = (await askHerdr(deps, socket, ['pane', 'current']))?.['pane'];
  const id = textOf(isObject(current) && current['pane_id']);
  const pane = id === undefined ? undefined : await processOf(deps, socket, id);
  const tty = pathOf(factsOf(pane?.shell ?? 0)?.device ?? 0);
  return pane === undefined || tty === undefined ? undefined : { tty, pid: pane.shell };
}

/** Returns whether herdr opened the terminal that this process leads. */
export function isInHerdr(leader: number): boolean {
  return programOf(factsOf(leader)?.parent ?? 0) === 'herdr';
}

/** Returns the terminal of the only herdr client. Works only on Linux. */
export function herdrClient(env: NodeJS.ProcessEnv): Pty | undefined {
  const clients = leadersOf(env['HOME']).filter(({ pid }) => foregroundOf(pid)?.program === 'herdr');
  return clients.length === 1 ? clients[0] : undefined;
}
