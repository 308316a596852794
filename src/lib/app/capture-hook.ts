import { join } from 'node:path';

import type { HeardPrompt } from '../assistant/hook-event';
import type { UserArea } from '../config/user-area';
import { createFile, readText } from '../platform/files/atomic-file';
import { toIso, type Clock } from '../platform/time/clock';
import { startDetached } from '../platform/process/detached';
import { ensureFolder, exists, lstatOf } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { isSlug } from '../sessions/slug';
import { leave } from '../sessions/spool';
import { isBareQueue, matchPrompt, type PromptMatch, wholePrompt } from '../work/capture/prompt';
import { captureKey, currentKey, isSeen, noteSeen } from '../work/capture/seen';
import { recurringWords, unusableTime } from '../work/due-words';
import { redacted, isRestricted, RESTRICTED_MARKER } from '../work/redact';
import type { PromptSetting } from './hook-settings';

export interface CaptureHookDeps {
  area: UserArea;
  clock: Clock;
  machineId: () => string;
  setting: PromptSetting;
}

/** Which prompts were captured (decisions.md 1). */
export function promptsSeen(area: UserArea): string {
  return join(area.state, 'prompts-seen.json');
}

/** What a prompt asks to be kept, as it would leave the machine; nothing of work in a restricted folder. */
export function heardMatches({ text, cwd }: Pick<HeardPrompt, 'text' | 'cwd'>): PromptMatch[] {
  const found = matchPrompt(text);
  if (found.length === 0 || (cwd !== undefined && isRestricted(cwd))) return [];
  return found.map((match) => ({ ...match, text: redacted(clean(match.text)) }));
}

/** The prompt that a match stood in, as far as it leaves the machine with it. */
export function heardWhole(setting: PromptSetting, { text }: Pick<HeardPrompt, 'text'>): { prompt?: string } {
  return setting === 'whole' ? { prompt: wholePrompt(text) } : {};
}

/**
 * The prompt hook of work capture: each match is left in the spool, once in a session. Before setup nothing is kept.
 * Returns what the person is told.
 */
export function onPrompt(
  { area, clock, machineId, setting }: CaptureHookDeps,
  prompt: HeardPrompt,
): string | undefined {
  if (!exists(area.work.repo)) return undefined;
  const matches = heardMatches(prompt);
  if (matches.length === 0 && !isBareQueue(prompt.text)) return undefined;
  const gate = gateOf(area.work.repo);
  if (gate === 'off') return undefined;
  if (matches.length === 0) return NOTHING_QUEUED;
  if (gate === 'public') return NOT_PRIVATE;
  const seen = promptsSeen(area);
  const whole = heardWhole(setting, prompt);
  const at = toIso(clock.now());
  const kept: string[] = [];
  for (const { kind, text } of matches) {
    const key = currentKey(seen, captureKey(prompt.session, kind, text));
    if (isSeen(seen, key)) continue;
    ensureFolder(area.spool);
    leave(
      { clock, machineId: machineId(), path: area.spool },
      {
        kind: 'prompt-matched',
        session: prompt.session,
        slug: prompt.slug,
        transcript: null,
        capture: { kind, text, key, ...whole },
      },
    );
    noteSeen(seen, key, at);
    kept.push(`${kind}: ${text}`);
  }
  if (kept.length === 0) return undefined;
  deliverSoon(area);
  const where = setting === 'whole' ? 'the work repository, with the whole prompt' : 'the work repository';
  const reminders = matches.filter(({ kind }) => kind === 'reminder').map(({ text }) => text);
  const unusable = reminders.map(unusableTime).find((words) => words !== undefined);
  const note = reminders.some((text) => recurringWords(text) !== undefined)
    ? `. ${NOT_RECURRING}`
    : unusable !== undefined
      ? `. "${unusable}" is not a time to come: it is kept without a time.`
      : '';
  return `Kept for ${where}: ${kept.join('; ')} (to take it back: steward work undo)${note}`;
}

const NOTHING_QUEUED = 'Nothing queued: say what to queue, such as "queue this for later: split the parser".';
const NOT_RECURRING = 'Recurring reminders are not supported: it is kept without a time.';

const NOT_PRIVATE =
  'Not kept: the work repository was seen not to be private. Make it private, then run `steward work verify`.';

/**
 * What work_repo.json says of itself, so that nobody is told that something is kept which would be dropped. Where it
 * says nothing plain, the delivery decides.
 */
function gateOf(path: string): 'open' | 'off' | 'public' {
  const stored = parseObject(readText(path, { maxBytes: 64 * 1024 }) ?? '');
  if (stored?.['enabled'] === false) return 'off';
  const privacy = stored?.['privacy'];
  if (!isObject(privacy) || privacy['verifiedPrivate'] !== false) return 'open';
  const { visibility } = privacy;
  return typeof visibility === 'string' && visibility !== 'private' ? 'public' : 'open';
}

/**
 * Marks the folder of a session that worked in a restricted folder as restricted too: the session's end, and later
 * the sweep, know it by that alone.
 */
export function onPlace(
  sessions: string,
  { slug, cwd }: { slug: string | null; cwd: string | undefined },
): void {
  if (slug === null || cwd === undefined || !isSlug(slug) || !isRestricted(cwd)) return;
  markRestricted(join(sessions, slug));
}

/** Says in a session's folder that it is restricted; where there is none yet, it cannot be said. */
export function markRestricted(folder: string): void {
  if (lstatOf(folder)?.isFolder === true) {
    createFile(join(folder, RESTRICTED_MARKER), 'The work of this session stays on this machine.\n');
  }
}

/** Starts what sends the captures; it ends by itself. Where it cannot start, the daemon, or the next one, does it. */
export function deliverSoon(area: UserArea): void {
  if (exists(area.work.repo)) startDetached(['work', 'deliver'], area.root);
}
