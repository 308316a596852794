import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

import type { PeerQuestion } from './peer';

/** What a server that closes has to know of a connection. */
export interface Connection {
  /** Seconds of `process.uptime()`; undefined while it carries a request. */
  idleSince: number | undefined;
  /** Requests that it carries. */
  unanswered: number;
  isLeaving: boolean;
  isOtherUser: PeerQuestion;
}

/** How long a connection is quiet before the server that closes takes leave of it. */
export const LINGER_MS = 400;

/** Stops accepting; resolves when the last connection has gone. */
export function closedNet(server: Server): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
}

/**
 * Takes leave of the connections that were quiet for a while; one whose client does not answer that is cut at the
 * next look. It is called when what lay in the sockets has been read.
 */
export function hangUpIdle(sockets: ReadonlyMap<Socket, Connection>): void {
  for (const [socket, connection] of sockets) {
    const { idleSince, isLeaving } = connection;
    if (idleSince === undefined || (process.uptime() - idleSince) * 1000 < LINGER_MS) continue;
    if (isLeaving) socket.destroy();
    else socket.end();
    connection.isLeaving = true;
  }
}

/**
 * The system has accepted connections for us that we have not seen: closing the door would cut them. The loop takes
 * one a turn, so it is turned until a turn brought none.
 */
export async function takeWaiting(accepted: () => number): Promise<void> {
  for (let left = MAX_TURNS, quiet = 0; left > 0 && quiet < 2; left -= 1) {
    const before = accepted();
    await turn();
    quiet = accepted() === before ? quiet + 1 : 0;
  }
}

/** The system keeps 511 at most. */
const MAX_TURNS = 600;

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
