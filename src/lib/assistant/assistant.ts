import { posix, win32 } from 'node:path';

import { StewardError } from '../errors';
import type { PathHost } from '../platform/files/paths';
import { CLAUDE_CODE, type AssistantId } from '../sessions/session-key';
import type { HookVerb } from './payload';

/** A hook to register for one event. */
export interface HookRegistration {
  /** The assistant's name of the event. */
  event: string;
  /** The argument of `steward hook`. */
  verb: HookVerb;
  /** The tools it applies to; omitted if the event has no tools. */
  matcher?: string;
  /** Seconds after which the assistant gives up on the hook. */
  timeoutSec: number;
}

/** What a file of steward's own is made from. */
export interface OwnFileInput {
  host: PathHost;
  /** Path of the shim. */
  shim: string;
  /** The registered command of a hook. */
  commandFor: (verb: string) => string;
  /** Returns a file of `templates`. */
  template: (name: string) => string;
}

/** An assistant: where its hooks are registered, and how. What it sends is read by `payload.ts`. */
export interface Assistant {
  id: AssistantId;
  /** The product name. */
  title: string;
  /** Its programs; one of them on the PATH, or its folder, means that it is installed. */
  programs: readonly string[];
  /** Its settings folder of this user, absolute. */
  folder: (host: PathHost) => string;
  /** The file that hooks are registered in, absolute. */
  path: (host: PathHost) => string;
  hooks: readonly HookRegistration[];
  /** Returns an entry of the shared settings file; undefined if the file is steward's own. */
  entry?: (hook: HookRegistration, command: string) => object;
  /** The text of a new settings file; default `{}`. */
  newFile?: string;
  /** The settings file may have comments. */
  hasComments?: true;
  /** Returns the text of a file that steward owns as a whole. */
  ownFile?: (input: OwnFileInput) => string;
  /** The settings key that disables all hooks. */
  switchedOffBy?: string;
  /** The settings key of the status line. */
  statusLineKey?: string;
  /**
   * The keys before `tool_input` in a tool event, in their order; `?` marks optional ones. The shim records such events
   * without Node.js.
   */
  toolKeys?: readonly string[];
  /** The folders of its transcripts, which tell when past sessions were active; each may be missing. */
  transcripts?: (host: PathHost) => string[];
  /** What the person has to do before new hooks run. */
  pending?: string;
}

/** Hooks time out on their own after 2.2 s; this bounds one that hangs in the kernel. */
const TIMEOUT_SEC = 5;

/** Returns the registrations of `[event, verb]` pairs, those of tools for all tools. */
export function registrations(
  pairs: readonly (readonly [event: string, verb: HookVerb, timeoutSec?: number])[],
): HookRegistration[] {
  return pairs.map(([event, verb, timeoutSec = TIMEOUT_SEC]) => ({
    event,
    verb,
    ...(verb === 'tool' || event === 'PermissionRequest' ? { matcher: '*' } : {}),
    timeoutSec,
  }));
}

/** Returns an entry with its hooks in a list, as Claude Code introduced it. */
export function groupEntry(unitsPerSec: number): NonNullable<Assistant['entry']> {
  return ({ matcher, timeoutSec }, command) => ({
    ...(matcher === undefined ? {} : { matcher }),
    hooks: [{ type: 'command', command, timeout: timeoutSec * unitsPerSec }],
  });
}

/**
 * Returns the places of an assistant: its folder is `inside` the one that the variable names, or else the default
 * below the home.
 */
export function placeAt(
  place: { variable?: string; folder: string; inside?: string },
  file: string,
): Pick<Assistant, 'folder' | 'path'> {
  const folder = (host: PathHost): string => {
    const { join, isAbsolute } = host.platform === 'win32' ? win32 : posix;
    const { variable = '' } = place;
    const set = host.env[variable] ?? '';
    const named = /^~(?:$|[/\\])/.test(set) ? join(host.home, set.slice(1)) : set;
    if (named !== '' && !isAbsolute(named)) {
      throw new StewardError('config', `${variable} is not an absolute path.`, {
        hint: `Set it to the absolute path of the folder that holds your ${file}, or unset it.`,
      });
    }
    return join(named === '' ? join(host.home, place.folder) : named, place.inside ?? '');
  };
  const path = (host: PathHost): string =>
    (host.platform === 'win32' ? win32 : posix).join(folder(host), file);
  return { folder, path };
}

/** The shim's arguments: the verb, and the assistant unless it is Claude Code. */
export function wordsOf({ id }: Assistant, verb: string): string {
  return id === CLAUDE_CODE ? verb : `${verb} ${id}`;
}
