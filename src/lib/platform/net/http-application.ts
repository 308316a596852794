import type { IsOtherUser } from './peer';

export interface RequestHead {
  method: string;
  /** Path and query, unmodified. */
  target: string;
  /** Header names are lower-case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Alternating header names and values, as the client sent them. */
  rawHeaders: readonly string[];
  /** Whether the request came over the local socket, which only this user can open. */
  isLocal: boolean;
  /** Returns whether another user on this machine sent the request; false if the user is unknown. */
  isOtherUser: IsOtherUser;
}

export interface HttpAnswer {
  status: number;
  /** Alternating header names and values. The server adds `content-length`. */
  headers: readonly string[];
  body: string | Buffer;
  /** Size of the body in bytes, if known. */
  length?: number;
  /**
   * Streams text instead of sending a body. The server calls the returned function when the client
   * disconnects or the server closes. An open stream doesn't delay a shutdown.
   */
  stream?: (write: (text: string) => void) => () => void;
}

export interface Application {
  /** Called before the body is read. Returns a response to reject the request, or undefined to accept it. */
  admit: (head: RequestHead) => HttpAnswer | undefined | Promise<HttpAnswer | undefined>;
  answer: (head: RequestHead, body: Buffer) => HttpAnswer | Promise<HttpAnswer>;
  /**
   * Returns the response for a request that the server itself rejects (400, 408, 413, 417, 431), or for an
   * internal error (500).
   */
  refuse: (status: number, cause?: unknown) => HttpAnswer;
}

export const SERVER_LIMITS = {
  maxBodyBytes: 64 * 1024,
  /** Maximum total size of the headers, in bytes. */
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  /** Timeout for the headers, and for the complete request. */
  requestMs: 10_000,
  /** How long a connection may be idle between requests. */
  idleMs: 65_000,
  maxConnections: 1000,
  /** Maximum number of pending requests on a connection; a client that sends more is disconnected. */
  maxUnanswered: 16,
  /**
   * How long a client may be silent after connecting or stop reading a response before it is disconnected.
   */
  unreadMs: 30_000,
};

export type ServerLimits = Readonly<typeof SERVER_LIMITS>;
