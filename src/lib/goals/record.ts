import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { expandHome, processHost } from '../platform/files/paths';
import { asciiSite } from '../platform/net/site';

export interface Goal {
  id: string;
  text: string;
  /** Progress as reported by the user, such as "40 %". */
  reported: string | null;
  target: string | null;
  /** Rules that assign work to the goal: repositories, projects, labels and sites. */
  repos?: string[];
  projects?: string[];
  labels?: string[];
  sites?: string[];
}

/** Returns the goals in a file; none if the file doesn't exist. */
export function readGoals(path: string): Goal[] {
  return parseGoals(readText(path, { followLink: true }) ?? '');
}

/** Adds a goal below the last heading "Active Goals", or below a new one. Returns its id. */
export function addGoal(
  path: string,
  goal: Pick<Goal, 'text' | 'target'> & { repos?: string[] | undefined; sites?: string[] | undefined },
): string {
  const before = readText(path, { followLink: true }) ?? '';
  const ids = parseGoals(before).map(({ id }) => id);
  const numbers = ids.map((id) => Number(/^G(\d{1,6})$/.exec(id)?.[1] ?? 0));
  const id = `G${Math.max(0, ...numbers) + 1}`;
  const { repos = [], sites = [], target } = goal;
  const details = { repos: repos.join(', '), sites: sites.join(', '), target: target ?? '' };
  const lines = Object.entries(details).filter(([, value]) => value !== '');
  const item = `- **${id}**: ${goal.text}\n${lines.map(([key, value]) => `  ${key}: ${value}\n`).join('')}`;
  ensureFolder(dirname(path));
  replaceFile(path, withItem(before, item), { followLink: true });
  return id;
}

/** Adds a goal's lines below the last heading "Active Goals", or below a new one. */
function withItem(stored: string, item: string): string {
  const before = stored === '' || stored.endsWith('\n') ? stored : `${stored}\n`;
  const isBelowHeading = parseGoals(before + item).length > parseGoals(before).length;
  const heading = isBelowHeading ? '' : `${before === '' ? '' : '\n'}## Active Goals\n\n`;
  return before + heading + item;
}

/**
 * Parses items such as `- **G1**: text` under a heading that contains "Active Goals". Indented lines add text
 * or keys such as `target:`. If an id occurs twice, uses the first goal.
 */
export function parseGoals(markdown: string): Goal[] {
  return [...goalBlocks(markdown).values()].map(({ goal }) => goal);
}

/** Returns the goals by id, with the numbers of their lines. */
function goalBlocks(markdown: string): Map<string, { goal: Goal; at: number[] }> {
  const goals = new Map<string, { goal: Goal; at: number[] }>();
  let sectionLevel: number | undefined;
  let current: { goal: Goal; at: number[] } | undefined;
  let currentIndent = 0;
  for (const [line, number] of contentLines(markdown)) {
    const heading = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/.exec(line);
    if (heading !== null) {
      const level = heading[1]?.length ?? 1;
      current = undefined;
      if (/active\s+goals/i.test(heading[2] ?? '')) sectionLevel = level;
      else if (sectionLevel !== undefined && level <= sectionLevel) sectionLevel = undefined;
      continue;
    }
    if (sectionLevel === undefined || line.trim() === '') continue;
    const indent = line.search(/\S/);
    // Lines indented under a goal are part of it, even if they look like a goal.
    const goal = current !== undefined && indent >= currentIndent + 2 ? undefined : goalOf(line);
    if (goal !== undefined) {
      current = { goal, at: [number] };
      currentIndent = indent;
      if (!goals.has(goal.id)) goals.set(goal.id, current);
    } else if (indent === 0) current = undefined;
    else if (current !== undefined) {
      addDetail(current.goal, line.trim());
      current.at.push(number);
    }
  }
  return goals;
}

/** Returns each goal's lines in a file, by id. */
export function goalLines(markdown: string): Map<string, string[]> {
  const lines = linesOf(markdown);
  return new Map(
    [...goalBlocks(markdown)].map(([id, { at }]) => [id, at.map((number) => (lines[number] ?? '').trim())]),
  );
}

/** Returns the file's text with a goal's lines replaced, added, or removed if `value` is null. */
export function withGoalLines(markdown: string, id: string, value: readonly string[] | null): string {
  const { at = [] } = goalBlocks(markdown).get(id) ?? {};
  const lines = linesOf(markdown);
  const [start] = at;
  const indent = /^ */.exec(lines[start ?? -1] ?? '')?.[0] ?? '';
  const written = (value ?? []).map((line, index) => `${indent}${index === 0 ? '' : '  '}${line}`);
  if (start === undefined)
    return written.length === 0 ? markdown : withItem(markdown, `${written.join('\n')}\n`);
  const kept = lines.flatMap((line, number) => {
    if (number === start) return written;
    return at.includes(number) ? [] : [line];
  });
  return kept.join(markdown.includes('\r\n') ? '\r\n' : '\n');
}

function linesOf(markdown: string): string[] {
  return markdown.split(/\r\n|\r|\n/);
}

/** Parses `- **G1**: text` or `- **G1:** text`. */
function goalOf(line: string): Goal | undefined {
  const match = /^ {0,3}[-*+][ \t]+\*\*([^*:]+)(?::[ \t]*\*\*|\*\*[ \t]*:)(.*)$/.exec(line);
  const id = match?.[1]?.trim();
  if (id === undefined || id === '') return undefined;
  return { id, text: (match?.[2] ?? '').trim(), reported: null, target: null };
}

export const GOAL_RULES = ['repos', 'projects', 'labels', 'sites'] as const;

function addDetail(goal: Goal, text: string): void {
  const list = GOAL_RULES.find((key) =>
    text
      .toLowerCase()
      .replace(/^[-*+][ \t]+/, '')
      .startsWith(`${key}:`),
  );
  if (list !== undefined) {
    const names = text.slice(text.indexOf(':') + 1).split(',');
    const found = names.map((name) => name.trim()).filter((name) => name !== '');
    goal[list] = [...(goal[list] ?? []), ...(list === 'sites' ? found.map(asciiSite) : found)];
    return;
  }
  const field = /^(?:[-*+][ \t]+)?\*{0,2}(reported|target)\*{0,2}[ \t]*:(.*)$/i.exec(text);
  if (field !== null) {
    const key = field[1]?.toLowerCase() === 'target' ? 'target' : 'reported';
    const value = (field[2] ?? '')
      .trim()
      .replace(/^\*{1,2}/, '')
      .trim();
    goal[key] = value === '' ? null : value;
  } else if (!/^(?:[-*+]|\d+[.)])[ \t]/.test(text) && goal.reported === null && goal.target === null) {
    goal.text = `${goal.text} ${text}`.trim();
  }
}

function* contentLines(markdown: string): Generator<[line: string, number: number]> {
  let fence: string | undefined;
  let isComment = false;
  for (const [number, raw] of linesOf(markdown.replace(/^\ufeff/, '')).entries()) {
    if (fence !== undefined) {
      const close = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(raw)?.[1];
      if (close !== undefined && close.startsWith(fence)) fence = undefined;
      continue;
    }
    let line = raw;
    if (isComment) {
      const end = line.indexOf('-->');
      if (end === -1) continue;
      line = line.slice(end + 3);
      isComment = false;
    }
    line = line.replace(/<!--[^]*?(?:-->|$)/g, (comment) => {
      isComment = !comment.endsWith('-->');
      return '';
    });
    fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) yield [line, number];
  }
}

/** A row of projects.md: `| **Name** | \`path\` | …`. */
export interface Project {
  name: string;
  /** The path as written, which may start with `~/`. */
  path: string;
}

/** Returns the tracked projects in a file, with absolute paths; none if the file doesn't exist. */
export function readProjects(path: string): Project[] {
  const { home } = processHost();
  const projects = parseProjects(readText(path, { followLink: true }) ?? '');
  return projects.map((project) => ({ ...project, path: expandHome(project.path, home) }));
}

/** Parses the tracked projects in file order. If a name occurs twice, uses the first project. */
export function parseProjects(markdown: string): Project[] {
  const projects = new Map<string, Project>();
  for (const project of linesOf(markdown).flatMap((line) => projectIn(line) ?? []))
    if (!projects.has(project.name)) projects.set(project.name, project);
  return [...projects.values()];
}

function projectIn(line: string): Project | undefined {
  const row = /^\s*\|\s*\*\*([^*|]+)\*\*\s*\|\s*`([^`|]+)`\s*\|/.exec(line);
  const [name = '', path = ''] = [row?.[1]?.trim(), row?.[2]?.trim()];
  return name === '' || path === '' ? undefined : { name, path };
}

/** Returns the file's text with a project's row changed, added, or removed if `path` is null. */
export function withProject(markdown: string, name: string, path: string | null): string {
  const lines = linesOf(markdown);
  const rows = lines.flatMap((line, number) => (projectIn(line) === undefined ? [] : [number]));
  const at = rows.find((number) => projectIn(lines[number] ?? '')?.name === name);
  const row = `| **${name}** | \`${path ?? ''}\` |`;
  if (at !== undefined) {
    const changed = lines[at]?.replace(/`[^`|]+`/, () => `\`${path ?? ''}\``) ?? row;
    lines.splice(at, 1, ...(path === null ? [] : [changed]));
  } else if (path !== null) {
    const last = rows.at(-1);
    if (last !== undefined) lines.splice(last + 1, 0, row);
    else lines.splice(lines.at(-1) === '' ? -1 : lines.length, 0, '| Project | Path |', '|---|---|', row);
  }
  const text = lines.join(markdown.includes('\r\n') ? '\r\n' : '\n');
  return text.endsWith('\n') ? text : `${text}\n`;
}
