/**
 * Types for the parts of the npm package `koffi` that steward uses. The package is optional and only used on
 * Windows.
 */
declare module 'koffi' {
  export interface Library {
    /** Declares a function by its C prototype. */
    func(prototype: string): (...args: unknown[]) => unknown;
  }
  export function load(path: string): Library;
  /** Node imports a CommonJS module as the default export. */
  const module: { load: typeof load } | undefined;
  export default module;
}
/** Types for the parts of the npm package `x11` that steward uses. The package has no types of its own. */
declare module 'x11' {
  type Reply<T> = (error: Error | null | undefined, value: T) => unknown;

  export interface Property {
    /** Atom of the type, or 0 if the property isn't set. */
    type: number;
    format: number;
    data: Buffer;
  }

  export interface ScreenSaver {
    QueryInfo(drawable: number, callback: Reply<{ idle: number }>): void;
  }

  export interface XClient {
    /** Atoms by name. By default, all connections of the process share this object. */
    atoms: Record<string, number>;
    atom_names: Record<number, string>;
    InternAtom(onlyIfExists: boolean, name: string, callback: Reply<number>): void;
    GetProperty(
      remove: 0 | 1,
      window: number,
      property: number,
      type: number,
      longOffset: number,
      longLength: number,
      callback: Reply<Property>,
    ): void;
    GetInputFocus(callback: Reply<{ focus: number }>): void;
    QueryPointer(window: number, callback: Reply<{ child: number }>): void;
    QueryTree(window: number, callback: Reply<{ parent: number }>): void;
    require(extension: 'screen-saver', callback: Reply<ScreenSaver>): void;
    ChangeWindowAttributes(window: number, values: { eventMask: number }): void;
    on(event: 'error' | 'end', listener: (error?: Error) => void): void;
    on(event: 'event', listener: (event: { name: string; atom?: number }) => void): void;
  }

  export interface XDisplay {
    client: XClient;
    screen: { root: number }[];
  }

  export function createClient(
    options: {
      display: string;
      stream: import('node:net').Socket;
      auth: { name: string; data: string };
      disableBigRequests?: boolean;
    },
    callback: (error: Error | undefined, display: XDisplay) => void,
  ): XClient;
}

/** Types for the parts of `@homebridge/dbus-native` that steward uses; its own types lack `createClient`. */
declare module '@homebridge/dbus-native' {
  /** An error reply. `name` is the D-Bus error name. */
  export interface BusReplyError {
    name: string;
    message: string;
  }

  export interface BusClient {
    connection: import('node:events').EventEmitter & { stream: import('node:net').Socket };
    invoke(message: object, reply: (error: BusReplyError | null, ...values: unknown[]) => void): void;
    setMethodCallHandler(
      path: string,
      iface: string,
      member: string,
      handler: [(...values: unknown[]) => unknown],
    ): void;
  }

  export function createClient(options: {
    busAddress: string;
    /** Doesn't register with the bus. */
    direct: boolean;
    authMethods: string[];
  }): BusClient;
}
