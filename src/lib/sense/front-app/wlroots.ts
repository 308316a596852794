import { isAbsolute, join } from 'node:path';

import { StewardError } from '../../errors';
import { converse, listenTo, type Dialogue } from '../../platform/net/local-socket';
import { READ_TIMEOUT_MS, envOf, isXdgSystem, type Desktop, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The adapter for compositors that support wlr-foreign-toplevel-management (labwc, river, Wayfire, niri, …).
 */
export const wlroots: FrontAppAdapter = {
  id: 'wlroots',
  detect: (desktop) => isXdgSystem(desktop) && waylandSocket(desktop) !== undefined,
  async read(desktop) {
    const options = { ...serverOf(desktop), timeoutMs: READ_TIMEOUT_MS, maxBytes: MAX_BYTES };
    const toplevels = await converse(options, toplevelDialogue);
    if (toplevels === 'unsupported') throw unsupportedError();
    const active = toplevels.find((toplevel) => toplevel.activated);
    return active === undefined ? null : nameWindow(desktop, [active.appId], 0);
  },
  watch: (desktop, onChange, signal) =>
    listenTo({ ...serverOf(desktop), signal }, (send) => {
      const conversation: Conversation = { send, toplevels: new Map() };
      return events(conversation, (object, opcode, body) => {
        const isChange = conversation.toplevels.has(object) && (opcode === STATE || opcode === CLOSED);
        const answer = handleEvent(conversation, object, opcode, body);
        if (answer === 'unsupported') throw unsupportedError();
        if (isChange || answer !== undefined) onChange();
        return undefined;
      });
    }),
};

function serverOf(desktop: Desktop): { path: string; what: string } {
  return { path: waylandSocket(desktop) ?? '', what: 'The Wayland display' };
}

function unsupportedError(): StewardError {
  return new StewardError(
    'not_found',
    'This Wayland compositor does not report which window has the focus.',
    {
      hint: 'Use a compositor that supports wlr-foreign-toplevel-management. Commits and assistant sessions are still captured.',
    },
  );
}

function waylandSocket(desktop: Desktop): string | undefined {
  const name = envOf(desktop, 'WAYLAND_DISPLAY');
  if (name === undefined || isAbsolute(name)) return name;
  const runtime = envOf(desktop, 'XDG_RUNTIME_DIR');
  return runtime === undefined ? undefined : join(runtime, name);
}

interface Toplevel {
  appId: string;
  activated: boolean;
}

const DISPLAY = 1;
const REGISTRY = 2;
const GLOBALS_KNOWN = 3;
const MANAGER = 4;
const TOPLEVELS_KNOWN = 5;
const INTERFACE = 'zwlr_foreign_toplevel_manager_v1';
const ACTIVATED = 2;
const STATE = 4;
const CLOSED = 6;

interface Conversation {
  send: (bytes: Buffer) => void;
  toplevels: Map<number, Toplevel>;
  manager?: { name: number; version: number };
}

/** Reads the app_id and state of each window over the Wayland protocol. Never decodes window titles. */
export const toplevelDialogue: Dialogue<Toplevel[] | 'unsupported'> = (send) => {
  const conversation: Conversation = { send, toplevels: new Map() };
  return events(conversation, (object, opcode, body) => handleEvent(conversation, object, opcode, body));
};

function events<T>(
  { send }: Conversation,
  take: (object: number, opcode: number, body: Buffer) => T | undefined,
): (chunk: Buffer) => T | undefined {
  let pending: Buffer = Buffer.alloc(0);
  send(request(DISPLAY, 1, uint(REGISTRY)));
  send(request(DISPLAY, 0, uint(GLOBALS_KNOWN)));
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 8) {
      const word = pending.readUInt32LE(4);
      const size = word >>> 16;
      if (size < 8)
        throw new StewardError('unavailable', 'The Wayland display sent an invalid event.', {
          hint: 'Log out and back in.',
        });
      if (pending.length < size) return undefined;
      const value = take(pending.readUInt32LE(0), word & 0xffff, pending.subarray(8, size));
      if (value !== undefined) return value;
      pending = pending.subarray(size);
    }
    return undefined;
  };
}

function handleEvent(conversation: Conversation, object: number, opcode: number, body: Buffer) {
  const { send, toplevels, manager } = conversation;
  if (object === DISPLAY && opcode === 0) {
    throw new StewardError('unavailable', `The Wayland display reported error ${body.readUInt32LE(4)}.`, {
      hint: 'Log out and back in.',
    });
  } else if (object === REGISTRY && opcode === 0) {
    if (stringAt(body, 4) !== INTERFACE) return undefined;
    conversation.manager = { name: body.readUInt32LE(0), version: body.readUInt32LE(body.length - 4) };
  } else if (object === GLOBALS_KNOWN) {
    if (manager === undefined) return 'unsupported';
    const version = Math.min(manager.version, 3);
    send(request(REGISTRY, 0, uint(manager.name), string(INTERFACE), uint(version), uint(MANAGER)));
    send(request(DISPLAY, 0, uint(TOPLEVELS_KNOWN)));
  } else if (object === TOPLEVELS_KNOWN) {
    return [...toplevels.values()];
  } else if (object === MANAGER && opcode === 0) {
    toplevels.set(body.readUInt32LE(0), { appId: '', activated: false });
  } else {
    const toplevel = toplevels.get(object);
    if (toplevel === undefined) return undefined;
    if (opcode === 1) toplevel.appId = stringAt(body, 0);
    else if (opcode === STATE) toplevel.activated = uintsAt(body, 0).includes(ACTIVATED);
    else if (opcode === CLOSED) toplevels.delete(object);
  }
  return undefined;
}

function request(object: number, opcode: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([uint(object), uint(((8 + body.length) << 16) | opcode), body]);
}

function uint(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

/** Encodes a string in the Wayland wire format: length including NUL, bytes, padding to a multiple of four. */
function string(text: string): Buffer {
  const bytes = Buffer.from(`${text}\0`, 'utf8');
  return Buffer.concat([uint(bytes.length), bytes, Buffer.alloc(-bytes.length & 3)]);
}

function stringAt(body: Buffer, at: number): string {
  const length = body.readUInt32LE(at);
  return body.toString('utf8', at + 4, at + 4 + Math.max(length - 1, 0));
}

function uintsAt(body: Buffer, at: number): number[] {
  const count = Math.floor(body.readUInt32LE(at) / 4);
  return Array.from({ length: count }, (_, index) => body.readUInt32LE(at + 4 + 4 * index));
}
