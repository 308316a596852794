import type { BusClient, BusReplyError } from '@homebridge/dbus-native';

import { StewardError } from '../../errors';
import { exists } from '../files/folder';
import { nonEmpty } from '../files/paths';

interface BusCall {
  destination: string;
  path: string;
  interface: string;
  member: string;
  signature?: string;
  /** A dictionary (`a{sv}`) is a list of pairs, and a variant (`v`) is its signature and value. */
  body?: unknown[];
  /** Whether the bus may start the service. */
  autoStart?: boolean;
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
  options: { address: string; timeoutMs: number; isKept?: true },
  use: (bus: Bus) => Promise<T>,
): Promise<T> {
  const missing = missingSocket(options.address);
  if (missing !== undefined) throw unreachable(missing, undefined);
  const { createClient } = await import('@homebridge/dbus-native');
  let timer: NodeJS.Timeout | undefined;
  let client: BusClient | undefined;
  const work = new Promise<T>((resolve, reject) => {
    const fail = (error: unknown): void =>
      reject(unreachable(error instanceof Error ? error.message : String(error), error));
    timer = setTimeout(
      () => fail(new Error(`no response within ${options.timeoutMs} ms`)),
      options.timeoutMs,
    );
    try {
      // `direct` leaves it to `busOf` to register, because the library doesn't report when that is done.
      client = createClient({
        busAddress: options.address.replace(/unix:abstract=([^,;]+)/g, 'unix:socket=\0$1'),
        direct: true,
        authMethods: ['EXTERNAL'],
      });
    } catch (error) {
      return fail(error);
    }
    client.connection.on('error', fail);
    client.connection.on('end', () => fail(new Error('it closed the connection')));
    busOf(client)
      .then((bus) => {
        if (options.isKept) clearTimeout(timer);
        return use(bus);
      })
      .then(resolve, reject);
  });
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    client?.connection.stream.destroy();
  }
}

/** Connects to a bus until it closes the connection, which doesn't keep the process running. */
export function keepBus(options: { address: string; timeoutMs: number }, onEnd: () => void): Promise<Bus> {
  return new Promise((resolve, reject) => {
    const use = async (bus: Bus): Promise<never> => {
      bus.unref();
      resolve(bus);
      return new Promise(() => undefined);
    };
    withBus({ ...options, isKept: true }, use)
      .catch(reject)
      .finally(onEnd);
  });
}

const SIGNAL = 4;
const NO_AUTO_START = 2;
const BUS_NAME = 'org.freedesktop.DBus';
/** The bus itself, which also takes calls. */
export const BUS = { destination: BUS_NAME, path: '/org/freedesktop/DBus', interface: BUS_NAME };

async function busOf(client: BusClient) {
  /** Returns the values of the reply. Throws `BusError` if the service replies with an error. */
  const call = ({ autoStart = false, ...rest }: BusCall): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      const message = { ...rest, flags: autoStart ? 0 : NO_AUTO_START };
      client.invoke(message, (error, ...values) => {
        if (error) reject(answered(error, rest));
        else resolve(values);
      });
    });
  const [name] = await call({ ...BUS, member: 'Hello' });
  return {
    /** The unique name of this connection, such as `:1.42`. */
    name: String(name),
    call,
    /** Returns the names of the services that run, or that the bus can start. */
    async names(member: 'ListNames' | 'ListActivatableNames'): Promise<unknown[]> {
      const [listed] = await call({ ...BUS, member });
      return Array.isArray(listed) ? listed : [];
    },
    /** Returns the value of a D-Bus property without its variant wrapper. */
    async property(object: Pick<BusCall, 'destination' | 'path'>, iface: string, name: string) {
      const [value] = await call({
        ...object,
        interface: 'org.freedesktop.DBus.Properties',
        member: 'Get',
        signature: 'ss',
        body: [iface, name],
      });
      // The library returns a variant as its types and values.
      const [, values] = value as [unknown, unknown[]];
      return values[0];
    },
    onSignal(iface: string, member: string, heard: (values: unknown[]) => void): void {
      client.connection.on('message', (message: Record<string, unknown>) => {
        const isMeant = message['interface'] === iface && message['member'] === member;
        if (isMeant && message['type'] === SIGNAL) heard(message['body'] as unknown[]);
      });
    },
    unref: () => void client.connection.stream.unref(),
    /** Waits for the first incoming call to a D-Bus method (`member`), and returns the call's arguments. */
    called: (path: string, iface: string, member: string) =>
      new Promise<unknown[]>((resolve) => {
        // The library appends the message to the arguments.
        const reply = (...values: unknown[]): void => resolve(values.slice(0, -1));
        client.setMethodCallHandler(path, iface, member, [reply]);
      }),
  };
}

export type Bus = Awaited<ReturnType<typeof busOf>>;

const ABSENT = new Set([
  'org.freedesktop.DBus.Error.ServiceUnknown',
  'org.freedesktop.DBus.Error.NameHasNoOwner',
]);

/** Returns whether the error means that the service isn't running. */
export function isAbsentService(error: unknown): boolean {
  return isBusError(error) && ABSENT.has(error.type);
}

function answered({ name: type, message: text }: BusReplyError, call: BusCall): BusError {
  const isAbsent = ABSENT.has(type);
  const message = isAbsent
    ? `${call.destination} is not running on D-Bus.`
    : `${call.destination} rejected ${call.interface}.${call.member} with: ${text}`;
  const hint = isAbsent
    ? 'Run steward in the graphical session, or set DBUS_SESSION_BUS_ADDRESS to its value in that session.'
    : undefined;
  const cause = new Error(text);
  const detail = hint === undefined ? { cause } : { hint, cause };
  return Object.assign(new StewardError('unavailable', message, detail), { type });
}

function unreachable(reason: string, cause: unknown): StewardError {
  return new StewardError('unavailable', `D-Bus is not responding: ${reason}.`, {
    hint: 'Run steward in the graphical session, or set DBUS_SESSION_BUS_ADDRESS to its value in that session.',
    cause,
  });
}
