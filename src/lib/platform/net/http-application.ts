import type { IsOtherUser } from './peer';

/** What came over the wire before a body. */
export interface RequestHead {
  method: string;
  /** The request target as it was sent: path and query. */
  target: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values in turn, as they were sent. */
  rawHeaders: readonly string[];
  /** It came over the local socket, which only this user can open. */
  isLocal: boolean;
  /** Another user of this machine sent it, as far as the system tells. Asked once a connection, when it is called. */
  isOtherUser: IsOtherUser;
}

export interface HttpAnswer {
  status: number;
  /** Names and values in turn; content-length is added. */
  headers: readonly string[];
  /** A text goes out in one write with its headers, bytes in a second one. */
  body: string | Buffer;
  /** Bytes of the body, where they are known. */
  length?: number;
}

/** The application behind the server. */
export interface Application {
  /** Looks at a request before its body is read; an answer refuses it. */
  admit: (head: RequestHead) => HttpAnswer | undefined | Promise<HttpAnswer | undefined>;
  answer: (head: RequestHead, body: Buffer) => HttpAnswer | Promise<HttpAnswer>;
  /** The answer to what does not even get as far as `admit`: 400, 408, 413 or 431; and to a fault, 500. */
  refuse: (status: number, cause?: unknown) => HttpAnswer;
}

export interface ServerLimits {
  /** Of a body, bytes. */
  maxBodyBytes: number;
  /** Of all headers together, bytes; and how many there may be. */
  maxHeaderBytes: number;
  maxHeaders: number;
  /** In which headers, and then the whole request, have to come, ms. */
  requestMs: number;
  /** How long a connection may be idle between requests, ms. */
  idleMs: number;
  maxConnections: number;
  /** Requests of one connection that may be unanswered at once: whoever sends more and reads nothing is cut. */
  maxUnanswered: number;
  /** How long an answer may lie unread, and a new connection say nothing, ms. */
  unreadMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  maxBodyBytes: 64 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  requestMs: 10_000,
  idleMs: 65_000,
  maxConnections: 1000,
  maxUnanswered: 16,
  unreadMs: 30_000,
};
