import type { Duplex } from 'node:stream';

import { StewardError } from '../../errors';
import { exists } from '../files/folder';
import { nonEmpty } from '../files/paths';

interface BusCall {
  destination: string;
  path: string;
  interface: string;
  member: string;
  signature?: string;
  body?: unknown[];
  /** Whether the bus may start the service. */
  autoStart?: boolean;
}

export interface Bus {
  /** The unique name of this connection, such as `:1.42`. */
  name: string;
  /** Returns the values of the reply. Throws `BusError` if the service replies with an error. */
  call(call: BusCall): Promise<unknown[]>;
  /** Wraps a value that the signature of a call declares as a variant (`v`). */
  variant(signature: string, value: unknown): unknown;
  /** Returns the value of a D-Bus property without its variant wrapper. */
  property(object: Pick<BusCall, 'destination' | 'path'>, iface: string, name: string): Promise<unknown>;
  /** Waits for the first incoming call to a D-Bus method (`member`), and returns the call's arguments. */
  called(iface: string, member: string): Promise<unknown[]>;
}

/** An error reply; `type` is the D-Bus error name. */
export interface BusError extends StewardError {
  type: string;
}

export function isBusError(error: unknown): error is BusError {
  return error instanceof StewardError && 'type' in error && typeof error.type === 'string';
}

export function sessionBusAddress(env: NodeJS.ProcessEnv): string | undefined {
  const runtime = env['XDG_RUNTIME_DIR'];
  return (
    nonEmpty(env['DBUS_SESSION_BUS_ADDRESS']) ??
    (nonEmpty(runtime) === undefined ? undefined : `unix:path=${runtime}/bus`)
  );
}

/** Returns the reason why the session bus can't be used, or undefined if it can be used. Doesn't connect. */
export function missingSessionBus(env: NodeJS.ProcessEnv): string | undefined {
  const address = sessionBusAddress(env);
  if (address === undefined) return 'the D-Bus session bus address is not set';
  return missingSocket(address);
}

function missingSocket(address: string): string | undefined {
  const socket = /^unix:path=([^,;%]+)$/.exec(address)?.[1];
  return socket === undefined || exists(socket) ? undefined : `${socket} does not exist`;
}

export function systemBusAddress(env: NodeJS.ProcessEnv): string {
  return nonEmpty(env['DBUS_SYSTEM_BUS_ADDRESS']) ?? 'unix:path=/run/dbus/system_bus_socket';
}

/**
 * Connects to a bus, runs `use`, and disconnects. Throws `unavailable` if the bus fails or `timeoutMs`
 * passes.
 */
export async function withBus<T>(
  options: { address: string; timeoutMs: number },
  use: (bus: Bus) => Promise<T>,
): Promise<T> {
  const missing = missingSocket(options.address);
  if (missing !== undefined) throw unreachable(missing, undefined);
  const dbus = await import('dbus-next');
  let timer: NodeJS.Timeout | undefined;
  let connection: ReturnType<typeof dbus.sessionBus> | undefined;
  const work = new Promise<T>((resolve, reject) => {
    const fail = (error: unknown): void =>
      reject(unreachable(error instanceof Error ? error.message : String(error), error));
    timer = setTimeout(
      () => fail(new Error(`no response within ${options.timeoutMs} ms`)),
      options.timeoutMs,
    );
    try {
      connection = dbus.sessionBus({ busAddress: plainAddress(options.address) });
    } catch (error) {
      return fail(error);
    }
    connection.on('error', fail);
    const bus = connection;
    bus.on('connect', () => use(busOf(dbus, bus)).then(resolve, reject));
  });
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    if (connection !== undefined) hangUp(connection);
  }
}

/** Disconnects and destroys the stream. Otherwise, an unresponsive bus would keep this process alive. */
function hangUp(connection: ReturnType<Library['sessionBus']>): void {
  connection.disconnect();
  const { stream } = (connection as unknown as { _connection: { stream: Duplex } })._connection;
  stream.destroy();
}

type Library = typeof import('dbus-next');

function busOf(dbus: Library, connection: ReturnType<Library['sessionBus']>): Bus {
  const bus: Bus = {
    name: String((connection as unknown as { name: string }).name),
    async call({ autoStart = false, ...call }) {
      const message = new dbus.Message({
        ...call,
        signature: call.signature ?? '',
        body: call.body ?? [],
        ...(autoStart ? {} : { flags: dbus.MessageFlag.NO_AUTO_START }),
      });
      try {
        return (await connection.call(message))?.body ?? [];
      } catch (error) {
        throw answered(error, call);
      }
    },
    variant: (signature, value) => new dbus.Variant(signature, value),
    async property(object, iface, name) {
      const [value] = await bus.call({
        ...object,
        interface: 'org.freedesktop.DBus.Properties',
        member: 'Get',
        signature: 'ss',
        body: [iface, name],
      });
      return value instanceof dbus.Variant ? value.value : value;
    },
    called: (iface, member) =>
      new Promise((resolve) => {
        connection.addMethodHandler((message: import('dbus-next').Message) => {
          if (message.interface !== iface || message.member !== member) return false;
          connection.send(dbus.Message.newMethodReturn(message, '', []));
          resolve(message.body);
          return true;
        });
      }),
  };
  return bus;
}

const ABSENT = new Set([
  'org.freedesktop.DBus.Error.ServiceUnknown',
  'org.freedesktop.DBus.Error.NameHasNoOwner',
]);

/** Returns whether the error means that the service isn't running. */
export function isAbsentService(error: unknown): boolean {
  return isBusError(error) && ABSENT.has(error.type);
}

function answered(error: unknown, call: BusCall): unknown {
  if (!(error instanceof Error) || !('type' in error) || typeof error.type !== 'string') return error;
  const { type } = error;
  const isAbsent = ABSENT.has(type);
  const message = isAbsent
    ? `${call.destination} is not running on D-Bus.`
    : `${call.destination} rejected ${call.interface}.${call.member} with: ${error.message}`;
  const hint = isAbsent
    ? 'Run steward in the graphical session, or set DBUS_SESSION_BUS_ADDRESS to its value in that session.'
    : undefined;
  const detail = hint === undefined ? { cause: error } : { hint, cause: error };
  return Object.assign(new StewardError('unavailable', message, detail), { type });
}

/**
 * Rewrites abstract socket addresses for Node, because the library needs a native module to open such
 * sockets.
 */
function plainAddress(address: string): string {
  return address.replace(/unix:abstract=([^,;]+)/g, 'unix:socket=\0$1');
}

function unreachable(reason: string, cause: unknown): StewardError {
  return new StewardError('unavailable', `D-Bus is not responding: ${reason}.`, {
    hint: 'Run steward in the graphical session, or set DBUS_SESSION_BUS_ADDRESS to its value in that session.',
    cause,
  });
}
