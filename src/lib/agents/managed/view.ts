import { palette, plural, table, usd } from '../../platform/terminal/format';
import { forShell } from '../../platform/process/spawn';
import type { Terminal } from '../../platform/terminal/stdio';
import { clean, cleanLine, escapeHidden } from '../../platform/terminal/terminal';
import { displayWidth, fit } from '../../platform/terminal/text-width';
import { dayOf, timeOf } from '../../platform/time/time';
import type { Resource } from './client';
import type { Cost, TurnOutcome, ToolUse } from './turn';
import { contentText, textField, type ManagedEvent } from './event';

export interface FollowEnd {
  session: string;
  outcome: TurnOutcome;
  /** The tool uses awaiting a response, if the outcome is `requires_action`. */
  pending: ToolUse[];
  cost: Cost;
  events: number;
}

const LINE = 400;
const MAX_ID = 128;

/** Formats an event for display. Returns an empty string for progress events. */
export function eventText(event: ManagedEvent, terminal: Pick<Terminal, 'columns' | 'color'>): string {
  const { attention, neutral } = palette(terminal);
  const columns = Math.max(20, terminal.columns);
  const message = (indent: string): string => {
    const text = contentText(event['content']);
    if (text === '') return '';
    return text
      .split(/\r?\n/)
      .flatMap((line) => wrapLine(clean(line.replaceAll('\t', '    ')), columns, indent))
      .map((line) => `${line.trimEnd()}\n`)
      .join('');
  };
  const detail = (text: string, paint = neutral): string => `  ${paint(cleanLine(text, columns - 2))}\n`;
  switch (event.type) {
    case 'agent.message':
      return message('');
    case 'user.message':
      return message('> ');
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      return detail(`${textField(event, 'name') ?? 'tool'} ${inputText(event['input'])}`);
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      return event['is_error'] === true ? detail(`failed: ${contentText(event['content'])}`) : '';
    case 'user.tool_confirmation':
      return detail(textField(event, 'result') === 'allow' ? 'allowed' : 'denied');
    case 'user.interrupt':
      return detail('interrupted');
    case 'session.error':
      return detail(`error: ${textField(event['error'] ?? event, 'message') ?? 'no details'}`, attention);
    case 'session.status_rescheduled':
      return detail('the service is retrying');
    case 'session.status_terminated':
    case 'session.deleted':
      return detail(event.type.replace(/^session\.(?:status_)?/, 'session '));
    default:
      return '';
  }
}

/** Wraps a line. Preserves whitespace and doesn't split long words. */
function wrapLine(line: string, columns: number, indent: string): string[] {
  if (displayWidth(line) + indent.length <= columns) return [indent + line];
  const own = /^ */.exec(line)?.[0] ?? '';
  const hanging = own.length < columns / 2 ? indent + own : indent;
  const lines: string[] = [];
  let current = indent;
  for (const word of line.trimEnd().split(/(?<=[^ ])(?= )/)) {
    const isStart = current === indent || current === hanging;
    if (!isStart && displayWidth(current) + displayWidth(word) > columns) {
      lines.push(current);
      current = hanging + word.trimStart();
    } else current += word;
  }
  return [...lines, current];
}

function inputText(input: unknown): string {
  if (input === undefined || input === null) return '';
  const command = textField(input, 'command') ?? textField(input, 'file_path') ?? textField(input, 'path');
  return cleanLine(escapeHidden(command ?? JSON.stringify(input)), LINE);
}

/** Maximum length of a tool's input in a permission prompt. */
const MAX_INPUT = 4000;

/**
 * Returns the question for a permission prompt. If the tool's input doesn't fit in the question, `lines`
 * contains the input.
 */
export function permissionText({ name, input }: ToolUse, columns: number) {
  const tool = name === '' ? 'a tool' : cleanLine(escapeHidden(name), 80);
  const given = input === null ? '' : escapeHidden(JSON.stringify(input));
  const short = `Allow ${tool}${given === '' ? '' : ` ${given}`}?`;
  if (displayWidth(short) + ' [y/N] '.length < columns) return { lines: '', question: short };
  const width = Math.max(20, columns - 4);
  const lines = pieces(given.slice(0, MAX_INPUT), width).map((piece) => `  ${piece}`);
  const more = given.length - MAX_INPUT;
  if (more > 0) lines.push(`  … ${grouped(more)} more characters not shown`);
  return { lines: [tool, ...lines].join('\n'), question: 'Allow it?' };
}

/** Splits text into lines of at most `width` columns, even within words. */
function pieces(text: string, width: number): string[] {
  const found = [''];
  for (const character of text) {
    const piece = found.at(-1) ?? '';
    if (displayWidth(piece) + displayWidth(character) > width) found.push(character);
    else found[found.length - 1] = piece + character;
  }
  return found;
}

export function endText({ outcome, cost }: FollowEnd): string {
  return outcome.kind === undefined ? `Done. ${costText(cost)}` : costText(cost);
}

/** Lists the pending tool uses, each with a shell-quoted command for responding to it. */
export function pendingLines(session: string, pending: readonly ToolUse[]): string[] {
  return pending.flatMap(({ id, name, kind, input }) => {
    const use = `  ${cleanLine(`${name === '' ? 'a tool' : name} ${inputText(input)}`, 200)}`;
    // Don't show a command with an unsafe id. Users paste these commands into a shell.
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(id) || id.startsWith('-'))
      return [use, '    This id cannot be used in a command.'];
    return [
      use,
      kind === 'custom'
        ? `    steward agents managed send ${clean(session)} --tool-result ${forShell(`${id}=@FILE`)} --follow`
        : `    steward agents managed wake ${clean(session)} --allow ${forShell(id)}    (or --deny)`,
    ];
  });
}

function costText(cost: Cost): string {
  const cached = cost.cacheTokens === 0 ? '' : `, ${grouped(cost.cacheTokens)} cached`;
  const tokens = `${grouped(cost.inputTokens)} tokens in${cached}, ${grouped(cost.outputTokens)} out`;
  const active = `active ${span(cost.activeSeconds)}, ${usd(cost.activeUsd)}`;
  if (cost.listCost !== undefined)
    return `${tokens} · ${active} · total ${usd(cost.listCost)} (from the service)`;
  return `${tokens} · ${active} · token cost not reported yet`;
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ');
}

function span(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor(whole / 60) % 60).padStart(2, '0')} m`;
}

/** Returns a table of agents, environments or sessions, with local times. */
export function resourcesText(
  resources: readonly Resource[],
  none: string,
  { columns, zone }: Pick<Terminal, 'columns'> & { zone: string },
): string {
  if (resources.length === 0) return none;
  const rows = resources.map((resource) => {
    const first = (...keys: string[]): string =>
      keys.map((key) => textField(resource, key) ?? textField(resource[key], 'id')).find((text) => text) ??
      '';
    const ms = Date.parse(first('created_at'));
    return [
      cleanLine(resource.id, MAX_ID),
      cleanLine(first('status', 'name'), 40),
      cleanLine(first('model', 'title', 'description'), 60),
      Number.isNaN(ms) ? '' : `${dayOf(ms, zone)} ${timeOf(ms, zone)}`,
    ];
  });
  return table(rows, columns < 70 ? [{}, { max: 12 }, { max: 12 }] : [])
    .split('\n')
    .map((line) => fit(line, columns))
    .join('\n');
}

export interface SessionReport {
  session: Resource;
  localEvents: number;
  /** Whether a message from an interrupted run is still unsent. */
  unsent: boolean;
  cost: Cost;
  pending: ToolUse[];
}

export function sessionText({ session, localEvents, unsent, cost, pending }: SessionReport): string {
  const agent = session['agent'];
  const lines = [
    `${cleanLine(session.id, MAX_ID)}  ${cleanLine(textField(session, 'status') ?? 'unknown status', 40)}`,
    `  agent        ${cleanLine(textField(agent, 'name') ?? textField(agent, 'id') ?? textField(session, 'agent') ?? '', 80)}`,
    `  environment  ${cleanLine(textField(session, 'environment_id') ?? '', 80)}`,
    `  local log    ${localEvents === 0 ? 'none' : plural(localEvents, 'event')}`,
    `  cost         ${costText(cost)}`,
  ];
  if (unsent) lines.push(`  unsent message; to send it: steward agents managed wake ${clean(session.id)}`);
  return [...lines, ...pendingLines(session.id, pending)].join('\n');
}
