import type { ServerResponse } from 'node:http';

import { reset, type StreamFault } from './faults';
import type { Random } from '../random';
import type { FakeSession, LogEvent } from './session';

/** Serves what happens in a session from now on, spoilt as the fault says. */
export function serveStream(
  response: ServerResponse,
  session: FakeSession,
  random: Random,
  fault: StreamFault | undefined,
  lineEnd: string,
): void {
  if (fault?.html === true) {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Sign in</body></html>');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (fault?.empty === true) {
    response.end();
    return;
  }
  response.write(`: connected${lineEnd}${lineEnd}`);
  let sent = 0;
  let silent = false;
  let held: LogEvent | undefined;
  const finish = (): void => {
    session.listeners.delete(onEvent);
  };
  const end = (how: StreamFault['end'], event: LogEvent): void => {
    const frame = frameOf(event, lineEnd);
    const at = {
      cut: Math.floor(frame.length / 2),
      'cut-utf8': utf8Middle(frame),
      'cut-crlf': frame.length - 1,
    };
    if (how === 'silence') {
      silent = true;
      return;
    }
    if (how === 'cut' || how === 'cut-utf8' || how === 'cut-crlf') response.write(frame.subarray(0, at[how]));
    finish();
    if (how === 'reset') reset(response);
    else response.end();
  };
  const write = (event: LogEvent): void => {
    const frame = frameOf(event, lineEnd);
    if (fault?.byteByByte !== true) response.write(frame);
    else for (const byte of frame) response.write(Buffer.of(byte));
  };
  const onEvent = (event: LogEvent): void => {
    if (silent) return;
    if (fault !== undefined && fault.end !== 'none' && sent >= fault.after) {
      end(fault.end, event);
      return;
    }
    sent += 1;
    if (fault === undefined) {
      write(event);
      if (random.chance(0.1))
        response.write(`event: ping${lineEnd}data: {"type":"ping"}${lineEnd}${lineEnd}`);
      return;
    }
    if (random.chance(fault.badFrame)) response.write(`data: {"type": "agent.mess${lineEnd}${lineEnd}`);
    if (random.chance(fault.unknown)) {
      response.write(`data: {"type":"event_start","event":{"id":"x"}}${lineEnd}${lineEnd}`);
    }
    if (held === undefined && random.chance(fault.swap)) {
      held = event;
      return;
    }
    write(event);
    if (random.chance(fault.duplicate)) write(event);
    if (held !== undefined) write(held);
    held = undefined;
  };
  session.listeners.add(onEvent);
  response.on('close', finish);
}

function frameOf(event: LogEvent, lineEnd: string): Buffer {
  return Buffer.from(`event: ${event.type}${lineEnd}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`);
}

/** Between the bytes of a character that has several, if there is one. */
function utf8Middle(frame: Buffer): number {
  const at = frame.findIndex((byte) => (byte & 0b1100_0000) === 0b1000_0000);
  return at === -1 ? Math.floor(frame.length / 3) : at;
}
