import { posix, win32 } from 'node:path';

import { StewardError } from '../errors';
import type { PathHost } from '../platform/files/paths';
import { CLAUDE_CODE, type AssistantId } from '../sessions/session-key';
import type { ANSWER_VERB, HookVerb } from './payload';

/** A hook to register for one event. */
export interface HookRegistration {
  /** The assistant's name for the event. */
  event: string;
  /** The verb passed to `steward hook`, such as `stop`. */
  verb: HookVerb | typeof ANSWER_VERB;
  /** Pattern for the tools that the hook applies to; omitted for events that don't involve tools. */
  matcher?: string;
  /** The assistant's timeout for the hook, in seconds. */
  timeoutSec: number;
}

/** The inputs for generating a hook file that steward owns. */
export interface OwnFileInput {
  host: PathHost;
  shim: string;
  /** Returns the command to register for a verb. */
  commandFor: (verb: string) => string;
  /** Returns the text of a file in `templates`. */
  template: (name: string) => string;
}

/** An assistant, and how to register its hooks. */
export interface Assistant {
  id: AssistantId;
  title: string;
  /**
   * Names of the assistant's executables. The assistant counts as installed if one of them is on the PATH or
   * its settings folder exists.
   */
  programs: readonly string[];
  /** Returns the absolute path of the user's settings folder. */
  folder: (host: PathHost) => string;
  /** Returns the absolute path of the file that registers the hooks. */
  path: (host: PathHost) => string;
  hooks: readonly HookRegistration[];
  /** Returns a hook's entry for the shared settings file. Undefined if steward owns the whole hook file. */
  entry?: (hook: HookRegistration, command: string) => object;
  /** The initial content of a new settings file. Default: `{}`. */
  newFile?: string;
  /** Whether the settings file may contain comments. */
  hasComments?: true;
  /** Returns the text of the hook file that steward owns. */
  ownFile?: (input: OwnFileInput) => string;
  /** The settings key that can disable all hooks. */
  switchedOffBy?: string;
  /** Returns the key and path of any other setting that currently disables all hooks. */
  disabledBy?: (host: PathHost) => string | undefined;
  /** The settings key of the status line. */
  statusLineKey?: string;
  /**
   * The keys that precede `tool_input` in a tool event's JSON, in order; `?` marks optional keys. The shim
   * uses these keys to parse the JSON without Node.js.
   */
  toolKeys?: readonly string[];
  /** Returns the assistant's transcript folders. Some of them may not exist. */
  transcripts?: (host: PathHost) => string[];
  /** Returns the command that resumes a session in its folder. */
  resume?: (id: string) => string;
  /** What the user must do before newly installed hooks run. */
  pending?: string;
}

/** The default hook timeout. Only a fallback, because a hook stops itself after 2.2 s. */
const TIMEOUT_SEC = 5;

/** The longest `notifications.answers.holdMinutes`, and a minute for the rest of the hook. */
export const HOLD_SEC = 31 * 60;

const VERBS: Readonly<Record<string, HookVerb>> = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  BeforeSubmitPrompt: 'prompt',
  PreToolUse: 'tool',
  PostToolUse: 'tool',
  PostToolUseFailure: 'tool',
  SubagentStart: 'subagent-start',
  SubagentStop: 'subagent-stop',
  PermissionRequest: 'notification',
  Notification: 'notification',
  Stop: 'stop',
  StopFailure: 'stop',
  Interrupt: 'stop',
  SessionEnd: 'session-end',
};

/** Returns the registrations of events, by the names that an assistant uses. Tool hooks match every tool. */
export function registrations(
  events: string,
  timeouts: Readonly<Record<string, number>> = {},
): HookRegistration[] {
  return events.split(' ').map((event) => {
    const verb = VERBS[event.charAt(0).toUpperCase() + event.slice(1)] as HookVerb;
    const matcher = verb === 'tool' || event === 'PermissionRequest' ? { matcher: '*' } : {};
    return { event, verb, ...matcher, timeoutSec: timeouts[event] ?? TIMEOUT_SEC };
  });
}

/** Returns a function that builds settings entries in Claude Code's format. */
export function groupEntry(unitsPerSec: number): NonNullable<Assistant['entry']> {
  return ({ matcher, timeoutSec }, command) => ({
    ...(matcher === undefined ? {} : { matcher }),
    hooks: [{ type: 'command', command, timeout: timeoutSec * unitsPerSec }],
  });
}

/**
 * Returns two functions: one for the path of an assistant's folder, and one for the path of a file in that
 * folder. `variable` is the environment variable that overrides `~/<folder>`.
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
        hint: `Set ${variable} to an absolute path, or unset it.`,
      });
    }
    return join(named === '' ? join(host.home, place.folder) : named, place.inside ?? '');
  };
  const path = (host: PathHost): string =>
    (host.platform === 'win32' ? win32 : posix).join(folder(host), file);
  return { folder, path };
}

/** Returns the shim's arguments: the verb and, except for Claude Code, the assistant's id. */
export function wordsOf({ id }: Assistant, verb: string): string {
  return id === CLAUDE_CODE ? verb : `${verb} ${id}`;
}
