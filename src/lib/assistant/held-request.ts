import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { type AssistantId, CLAUDE_CODE, sessionKey } from '../sessions/session-key';

/** A request of Claude Code or Codex that a hook may answer. */
export type HeldRequest = NonNullable<ReturnType<typeof heldRequest>>;

type Kind = 'question' | 'plan' | 'permission';
type Questions = { text: string; options: string[]; many?: true }[];

interface GivenAnswer {
  behavior: 'allow' | 'deny';
  texts: readonly string[];
  forSession: boolean;
}

/** A longer input is not offered, because it could not be read whole. */
const MAX_INPUT = 16_000;

/** Parses the hook JSON; returns undefined for a request that is unclear or can't be answered from elsewhere. */
export function heldRequest(bytes: Buffer, assistant: AssistantId = CLAUDE_CODE) {
  const fields = parseObject(bytes.toString()) ?? {};
  const [id, cwd, tool] = ['session_id', 'cwd', 'tool_name'].map((name) => textOf(fields[name]));
  const input = fields['tool_input'];
  const kind = kindOf(tool, fields);
  if (assistant !== CLAUDE_CODE && kind !== 'permission') return undefined;
  if (id === undefined || cwd === undefined || tool === undefined || kind === undefined) return undefined;
  if (!isObject(input) || JSON.stringify(input).length > MAX_INPUT) return undefined;
  const suggestions = suggestionsOf(fields['permission_suggestions'], tool);
  const questions =
    kind === 'question' ? questionsOf(input['questions']) : shownOf(kind, input['plan'], suggestions);
  const event: 'PreToolUse' | 'PermissionRequest' =
    fields['hook_event_name'] === 'PreToolUse' ? 'PreToolUse' : 'PermissionRequest';
  const session = sessionKey(assistant, id);
  const log = textOf(fields['transcript_path']);
  return questions && { assistant, log, kind, event, session, cwd, tool, input, questions, suggestions };
}

/** In its mode `default`, Claude Code takes the answer to a question only in a PermissionRequest hook. */
function kindOf(tool: string | undefined, fields: Record<string, unknown>): Kind | undefined {
  const mode = textOf(fields['permission_mode']);
  const isPermission = fields['hook_event_name'] === 'PermissionRequest';
  const isBefore = fields['hook_event_name'] === 'PreToolUse';
  if (fields['cursor_version'] !== undefined || mode === undefined || mode === 'dontAsk') return undefined;
  if (tool === 'AskUserQuestion')
    return (mode === 'default' ? isPermission : isBefore) ? 'question' : undefined;
  if (tool === 'ExitPlanMode') return isBefore && mode === 'plan' ? 'plan' : undefined;
  return isPermission ? 'permission' : undefined;
}

function questionsOf(value: unknown): Questions | undefined {
  const questions = (Array.isArray(value) ? value : []).map((one: unknown) => {
    const { question, options, multiSelect } = isObject(one) ? one : {};
    const labels = (Array.isArray(options) ? options : []).map((option: unknown) =>
      isObject(option) ? textOf(option['label']) : undefined,
    );
    return { text: textOf(question), options: labels, ...(multiSelect === true && { many: true }) };
  });
  const isClear = questions.every(({ text, options }) => ![text, ...options].includes(undefined));
  const isDistinct = new Set(questions.map(({ text }) => text)).size === questions.length;
  return isClear && isDistinct && questions.length > 0 ? (questions as Questions) : undefined;
}

function shownOf(kind: Kind, plan: unknown, suggestions: readonly Suggestion[]): Questions | undefined {
  const rules = suggestions.flatMap((each) => each.rules.map((rule) => JSON.stringify(rule)));
  if (kind === 'permission')
    return rules.map((rule) => ({ text: `For this session, also: ${rule}`, options: [] }));
  return typeof plan === 'string' && plan.trim() !== '' ? [{ text: plan, options: [] }] : undefined;
}

type Suggestion = Record<string, unknown> & { rules: unknown[] };

/** Returns what would allow the tool for the rest of the session; nothing if a rule is for another one. */
function suggestionsOf(value: unknown, tool: string): Suggestion[] {
  const offered = (Array.isArray(value) ? value : []).filter((each): each is Suggestion => {
    const isAdded = isObject(each) && each['type'] === 'addRules' && Array.isArray(each['rules']);
    return isAdded && each['behavior'] === 'allow' && each['destination'] === 'session';
  });
  const rules = offered.flatMap((each) => each.rules);
  return rules.every((rule) => isObject(rule) && rule['toolName'] === tool) ? offered : [];
}

/** Returns what the hook prints for an answer. */
export function heldOutput(request: HeldRequest, { behavior, texts, forSession }: GivenAnswer): string {
  const { assistant, kind, event: hookEventName, input, questions, suggestions } = request;
  const message = texts[0] ?? 'The user declined.';
  const answers = Object.fromEntries(questions.map(({ text }, index) => [text, texts[index] ?? '']));
  const updatedInput = kind === 'question' ? { ...input, answers } : input;
  const isAllowed = behavior === 'allow';
  // Codex refuses the tool if the decision has more than it knows.
  const more = assistant === CLAUDE_CODE ? { updatedInput } : {};
  const decision = isAllowed
    ? { behavior, ...more, ...(forSession ? { updatedPermissions: suggestions } : {}) }
    : { behavior, message };
  const before = isAllowed
    ? { permissionDecision: behavior, updatedInput }
    : { permissionDecision: behavior, permissionDecisionReason: message };
  const own = hookEventName === 'PreToolUse' ? before : { decision };
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName, ...own } })}\n`;
}
