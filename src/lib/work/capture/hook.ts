import { join } from 'node:path';

import type { WorkConfig } from '../../config/schema';
import type { UserArea } from '../../config/user-area';
import { readText } from '../../platform/files/atomic-file';
import { ensureFolder, exists } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import { clean } from '../../platform/terminal/terminal';
import { toIso, type Clock } from '../../platform/time/clock';
import { isSlug } from '../../sessions/slug';
import { leave } from '../../sessions/spool';
import { recurringWords, unusableTime } from '../due-words';
import { isRestricted, markRestricted, redacted } from '../redact';
import { isBareQueue, matchPrompt, wholePrompt, type PromptMatch } from './prompt';
import { captureKey, currentKey, isSeen, noteSeen, promptsSeen } from './seen';

/** How much of a prompt is kept in which something matched. */
type PromptSetting = WorkConfig['CAPTURE_PROMPT'];

/** A prompt as the hook has it. */
export interface Heard {
  text: string;
  session: string;
  slug: string | null;
  cwd: string | undefined;
}

export interface CaptureHookDeps {
  area: UserArea;
  clock: Clock;
  machineId: () => string;
  setting: PromptSetting;
  /** Starts what sends the captures. */
  deliverSoon: () => void;
}

/** What a prompt asks to be kept, as it would leave the machine; nothing of work in a restricted folder. */
export function heardMatches({ text, cwd }: Pick<Heard, 'text' | 'cwd'>): PromptMatch[] {
  const found = matchPrompt(text);
  if (found.length === 0 || (cwd !== undefined && isRestricted(cwd))) return [];
  return found.map((match) => ({ ...match, text: redacted(clean(match.text)) }));
}

/** The prompt that a match stood in, as far as it leaves the machine with it. */
export function heardWhole(setting: PromptSetting, { text }: Pick<Heard, 'text'>): { prompt?: string } {
  return setting === 'whole' ? { prompt: wholePrompt(text) } : {};
}

/**
 * The prompt hook of work capture: each match is left in the spool, once in a session. Before setup nothing is kept.
 * Returns what the person is told.
 */
export function onPrompt(deps: CaptureHookDeps, prompt: Heard): string | undefined {
  const { repo } = deps.area.work;
  if (!exists(repo)) return undefined;
  const matches = heardMatches(prompt);
  if (matches.length === 0 && !isBareQueue(prompt.text)) return undefined;
  const gate = gateOf(repo);
  if (gate === 'off') return undefined;
  if (matches.length === 0)
    return 'Nothing queued: say what to queue, such as "queue this for later: split the parser".';
  if (gate === 'public')
    return 'Not kept: the work repository was seen not to be private. Make it private, then run `steward work verify`.';
  const at = toIso(deps.clock.now());
  const kept = matches.filter((match) => leaveOnce(deps, prompt, match, at));
  if (kept.length === 0) return undefined;
  deps.deliverSoon();
  const where =
    deps.setting === 'whole' ? 'the work repository, with the whole prompt' : 'the work repository';
  const words = kept.map(({ kind, text }) => `${kind}: ${text}`).join('; ');
  return `Kept for ${where}: ${words} (to take it back: steward work undo)${noteOf(matches)}`;
}

/** False where this was captured in the session before. */
function leaveOnce(deps: CaptureHookDeps, prompt: Heard, { kind, text }: PromptMatch, at: string): boolean {
  const { area, clock, machineId, setting } = deps;
  const { session, slug } = prompt;
  const seen = promptsSeen(area);
  const key = currentKey(seen, captureKey(session, kind, text));
  if (isSeen(seen, key)) return false;
  ensureFolder(area.spool);
  const capture = { kind, text, key, ...heardWhole(setting, prompt) };
  leave(
    { clock, machineId: machineId(), path: area.spool },
    { kind: 'prompt-matched', session, slug, transcript: null, capture },
  );
  noteSeen(seen, key, at);
  return true;
}

/** What of a reminder's time is not as it was said. */
function noteOf(matches: readonly PromptMatch[]): string {
  const texts = matches.filter(({ kind }) => kind === 'reminder').map(({ text }) => text);
  if (texts.some((text) => recurringWords(text) !== undefined))
    return '. Recurring reminders are not supported: it is kept without a time.';
  const unusable = texts.map(unusableTime).find((words) => words !== undefined);
  return unusable === undefined ? '' : `. "${unusable}" is not a time to come: it is kept without a time.`;
}

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
