import { palette, table } from '../../platform/terminal/format';
import { forShell } from '../../platform/process/spawn';
import type { Terminal } from '../../platform/terminal/stdio';
import { clean, cleanLine } from '../../platform/terminal/terminal';
import { displayWidth, fit } from '../../platform/terminal/text-width';
import { dayOf, timeOf } from '../../platform/time/time';
import type { Resource } from './client';
import type { Cost, ToolUse } from './turn';
import { contentText, textOf, type ManagedEvent } from './event';
import type { FollowEnd } from './follow';

const LINE = 400;
const MAX_ID = 128;

/** What a person sees of an event: lines with their line feeds; nothing of those that only say that work goes on. */
export function eventText(event: ManagedEvent, terminal: Pick<Terminal, 'columns' | 'color'>): string {
  const { attention, neutral } = palette(terminal);
  const columns = Math.max(20, terminal.columns);
  const told = (indent: string): string => {
    const text = contentText(event['content']);
    // A message may have no text at all, such as one of images alone.
    if (text === '') return '';
    return text
      .split(/\r?\n/)
      .flatMap((line) => flowed(clean(line.replaceAll('\t', '    ')), columns, indent))
      .map((line) => `${line.trimEnd()}\n`)
      .join('');
  };
  const small = (text: string, paint = neutral): string => `  ${paint(cleanLine(text, columns - 2))}\n`;
  switch (event.type) {
    case 'agent.message':
      return told('');
    case 'user.message':
      return told('> ');
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      return small(`${textOf(event, 'name') ?? 'tool'} ${inputText(event['input'])}`);
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      return event['is_error'] === true ? small(`failed: ${contentText(event['content'])}`) : '';
    case 'user.tool_confirmation':
      return small(textOf(event, 'result') === 'allow' ? 'allowed' : 'denied');
    case 'user.interrupt':
      return small('interrupted');
    case 'session.error':
      return small(`error: ${textOf(event['error'] ?? event, 'message') ?? 'not told'}`, attention);
    case 'session.status_rescheduled':
      return small('the service tries again');
    case 'session.status_terminated':
    case 'session.deleted':
      return small(event.type.replace(/^session\.(?:status_)?/, 'session '));
    default:
      return '';
  }
}

/**
 * A line of a text in lines of at most `columns`. Its spaces stay, so that code keeps its shape, the lines that follow are
 * indented as it is, and a word that is longer than a line (an address) is left whole.
 */
function flowed(line: string, columns: number, indent: string): string[] {
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
  const command = textOf(input, 'command') ?? textOf(input, 'file_path') ?? textOf(input, 'path');
  return cleanLine(written(command ?? JSON.stringify(input)), LINE);
}

/** A person who allows a command has to see all of it: what a terminal would act on, or hide, is written as `\u009b`. */
function written(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (hidden) =>
    /[\n\r\t]/.test(hidden)
      ? hidden
      : hidden.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Of an input that is longer only so many characters are shown, and that it is longer is said. */
const MAX_ASKED = 4000;

/** The question whether a tool may be used: in one line, or, where that is too narrow, with the whole input above it. */
export function askedText({ name, input }: ToolUse, columns: number): { lines: string; question: string } {
  const tool = name === '' ? 'a tool' : cleanLine(written(name), 80);
  const given = input === null ? '' : written(JSON.stringify(input));
  const short = `Allow ${tool}${given === '' ? '' : ` ${given}`}?`;
  if (displayWidth(short) + ' [y/N] '.length < columns) return { lines: '', question: short };
  const width = Math.max(20, columns - 4);
  const lines = pieces(given.slice(0, MAX_ASKED), width).map((piece) => `  ${piece}`);
  const more = given.length - MAX_ASKED;
  if (more > 0) lines.push(`  … and ${grouped(more)} characters more, which are not shown here.`);
  return { lines: [tool, ...lines].join('\n'), question: 'Allow it?' };
}

/** A text cut into pieces of a width, anywhere: no place in a shell command is better than another. */
function pieces(text: string, width: number): string[] {
  const found = [''];
  for (const character of text) {
    const piece = found.at(-1) ?? '';
    if (displayWidth(piece) + displayWidth(character) > width) found.push(character);
    else found[found.length - 1] = piece + character;
  }
  return found;
}

/** The end of a turn in a line. */
export function endText({ outcome, cost }: FollowEnd): string {
  return outcome.kind === undefined ? `Done. ${costText(cost)}` : costText(cost);
}

/** What the agent waits for, and the command that answers each: one that a shell takes as it stands. */
export function pendingLines(session: string, pending: readonly ToolUse[]): string[] {
  return pending.flatMap(({ id, name, kind, input }) => {
    const use = `  ${cleanLine(`${name === '' ? 'a tool' : name} ${inputText(input)}`, 200)}`;
    // Ids are the service's words: no person copies one that a shell or a terminal would act on.
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(id) || id.startsWith('-'))
      return [use, '    Its id is none that a command can name.'];
    return [
      use,
      kind === 'custom'
        ? `    steward agents managed send ${clean(session)} --tool-result ${forShell(`${id}=@FILE`)} --follow`
        : `    steward agents managed wake ${clean(session)} --allow ${forShell(id)}    (or --deny)`,
    ];
  });
}

/** `12 450 tokens in, 3 120 out · active 4 m 10 s, 0.01 USD`. */
function costText(cost: Cost): string {
  const cached = cost.cacheTokens === 0 ? '' : `, ${grouped(cost.cacheTokens)} cached`;
  const tokens = `${grouped(cost.inputTokens)} tokens in${cached}, ${grouped(cost.outputTokens)} out`;
  const active = `active ${span(cost.activeSeconds)}, ${usd(cost.activeUsd)}`;
  if (cost.listCost !== undefined)
    return `${tokens} · ${active} · ${usd(cost.listCost)} as the service counts it`;
  const priced = cost.tokenUsd === undefined ? 'tokens not priced' : `${usd(cost.totalUsd)} in all`;
  return `${tokens} · ${active} · ${priced}`;
}

function usd(value: number): string {
  return value !== 0 && value < 0.01 ? 'under 0.01 USD' : `${value.toFixed(2)} USD`;
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

/** Agents, environments or sessions, one a line; times are of the zone. */
export function resourcesText(
  resources: readonly Resource[],
  none: string,
  { columns, zone }: Pick<Terminal, 'columns'> & { zone: string },
): string {
  if (resources.length === 0) return none;
  const rows = resources.map((resource) => {
    const first = (...keys: string[]): string =>
      keys.map((key) => textOf(resource, key) ?? textOf(resource[key], 'id')).find((text) => text) ?? '';
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
  /** Events in the local log; 0 where there is none. */
  localEvents: number;
  /** A message of a run that was killed waits to be sent by a wake. */
  unsent: boolean;
  cost: Cost;
  pending: ToolUse[];
}

export function sessionText({ session, localEvents, unsent, cost, pending }: SessionReport): string {
  const agent = session['agent'];
  const lines = [
    `${cleanLine(session.id, MAX_ID)}  ${cleanLine(textOf(session, 'status') ?? 'status not told', 40)}`,
    `  agent        ${cleanLine(textOf(agent, 'name') ?? textOf(agent, 'id') ?? textOf(session, 'agent') ?? '', 80)}`,
    `  environment  ${cleanLine(textOf(session, 'environment_id') ?? '', 80)}`,
    `  local log    ${localEvents === 0 ? 'none' : `${grouped(localEvents)} events`}`,
    `  cost         ${costText(cost)}`,
  ];
  if (unsent) lines.push(`  not sent yet: a message; steward agents managed wake ${clean(session.id)}`);
  return [...lines, ...pendingLines(session.id, pending)].join('\n');
}
