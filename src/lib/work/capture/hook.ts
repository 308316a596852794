import type { WorkConfig } from '../../config/schema';
import type { Machine } from '../../config/user-area';
import { ensureFolder } from '../../platform/files/folder';
import { isObject } from '../../platform/files/json-object';
import { readObject } from '../../platform/files/object-file';
import { clean } from '../../platform/terminal/terminal';
import { toIso } from '../../platform/time/clock';
import { leave } from '../../sessions/spool';
import { recurringWords, unusableTime } from '../due-words';
import { redact } from '../outgoing';
import { captureKey, capturedKeysPath, currentKey, isCaptured, recordKey } from './keys';
import { isBareQueue, matchPrompt, wholePrompt, type PromptMatch } from './prompt';

type PromptSetting = WorkConfig['CAPTURE_PROMPT'];

export interface CapturedPrompt {
  text: string;
  session: string;
  slug: string | null;
}

export interface CaptureHookDeps extends Machine {
  setting: PromptSetting;
  /** Starts a process that delivers the captures. */
  deliverSoon: () => void;
}

/** Returns the requests in a prompt, with credentials redacted. */
export function requestsIn(text: string): PromptMatch[] {
  return matchPrompt(text).map((match) => ({ ...match, text: redact(clean(match.text)) }));
}

/** Returns the whole prompt, if the configuration allows storing whole prompts. */
export function wholePromptIf(
  setting: PromptSetting,
  { text }: Pick<CapturedPrompt, 'text'>,
): { prompt?: string } {
  return setting === 'whole' ? { prompt: wholePrompt(text) } : {};
}

/** Spools each request in a prompt, once per session. Returns the message for the user. */
export function onPrompt(deps: CaptureHookDeps, prompt: CapturedPrompt): string | undefined {
  const requests = requestsIn(prompt.text);
  if (requests.length === 0 && !isBareQueue(prompt.text)) return undefined;
  if (requests.length === 0)
    return 'Nothing queued. Name the task, for example: "queue this for later: split the parser".';
  if (isPublic(deps.area.work.repo))
    return 'Not captured: the work repository is not private. Make it private, then run `steward work verify`.';
  const at = toIso(deps.clock.now());
  const captured = requests.filter((request) => captureOnce(deps, prompt, request, at));
  if (captured.length === 0) return undefined;
  deps.deliverSoon();
  const whole = deps.setting === 'whole' ? ', with the whole prompt' : '';
  const words = captured.map(({ kind, text }) => `${kind}: ${text}`).join('; ');
  return `Captured for the work repository${whole}: ${words} (to undo, run "steward work undo")${noteOf(requests)}`;
}

function captureOnce(deps: CaptureHookDeps, prompt: CapturedPrompt, { kind, text }: PromptMatch, at: string) {
  const { session, slug } = prompt;
  const path = capturedKeysPath(deps.area);
  const key = currentKey(path, captureKey(session, kind, text));
  if (isCaptured(path, key)) return false;
  ensureFolder(deps.area.spool);
  const capture = { kind, text, key, ...wholePromptIf(deps.setting, prompt) };
  leave(deps, { kind: 'prompt-matched', session, slug, transcript: null, capture });
  // Record the key last. If the hook is killed before this write, the request may be spooled twice, but only
  // one issue is created.
  recordKey(path, key, at);
  return true;
}

function noteOf(requests: readonly PromptMatch[]): string {
  const texts = requests.filter(({ kind }) => kind === 'reminder').map(({ text }) => text);
  if (texts.some((text) => recurringWords(text) !== undefined))
    return '. Recurring reminders are not supported, so the reminder has no due time.';
  const unusable = texts.map(unusableTime).find((words) => words !== undefined);
  return unusable === undefined
    ? ''
    : `. "${unusable}" is not a future time, so the reminder has no due time.`;
}

/** Returns whether the repository was found public, so that steward doesn't announce what it would drop later. */
function isPublic(path: string): boolean {
  const privacy = readObject(path, 64 * 1024)?.['privacy'];
  if (!isObject(privacy) || privacy['verifiedPrivate'] !== false) return false;
  const { visibility } = privacy;
  return typeof visibility === 'string' && visibility !== 'private';
}
