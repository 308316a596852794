import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { expandHome, processHost } from '../platform/files/paths';

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
  goal: Pick<Goal, 'text' | 'target'> & { repos: string[] | undefined },
): string {
  const stored = readText(path, { followLink: true }) ?? '';
  const before = stored === '' || stored.endsWith('\n') ? stored : `${stored}\n`;
  const ids = parseGoals(before).map(({ id }) => id);
  const numbers = ids.map((id) => Number(/^G(\d{1,6})$/.exec(id)?.[1] ?? 0));
  const id = `G${Math.max(0, ...numbers) + 1}`;
  const repos = goal.repos === undefined ? '' : `  repos: ${goal.repos.join(', ')}\n`;
  const target = goal.target === null ? '' : `  target: ${goal.target}\n`;
  const item = `- **${id}**: ${goal.text}\n${repos}${target}`;
  const isBelowHeading = parseGoals(before + item).length > ids.length;
  const heading = isBelowHeading ? '' : `${before === '' ? '' : '\n'}## Active Goals\n\n`;
  ensureFolder(dirname(path));
  replaceFile(path, before + heading + item, { followLink: true });
  return id;
}

/**
 * Parses items such as `- **G1**: text` under a heading that contains "Active Goals". Indented lines add text
 * or keys such as `target:`. If an id occurs twice, uses the first goal.
 */
export function parseGoals(markdown: string): Goal[] {
  const goals = new Map<string, Goal>();
  let sectionLevel: number | undefined;
  let current: Goal | undefined;
  let currentIndent = 0;
  for (const line of contentLines(markdown)) {
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
      current = goal;
      currentIndent = indent;
      if (!goals.has(goal.id)) goals.set(goal.id, goal);
    } else if (indent === 0) current = undefined;
    else if (current !== undefined) addDetail(current, line.trim());
  }
  return [...goals.values()];
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
    goal[list] = [...(goal[list] ?? []), ...names.map((name) => name.trim()).filter((name) => name !== '')];
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

function* contentLines(markdown: string): Generator<string> {
  let fence: string | undefined;
  let isComment = false;
  for (const raw of markdown.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
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
    if (fence === undefined) yield line;
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

/** Parses the tracked projects in file order. If a name occurs twice, uses the first project. */ export function parseProjects(
  markdown: string,
): Project[] {
  const projects = new Map<string, Project>();
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    const row = /^\s*\|\s*\*\*([^*|]+)\*\*\s*\|\s*`([^`|]+)`\s*\|/.exec(line);
    const [name = '', path = ''] = [row?.[1]?.trim(), row?.[2]?.trim()];
    if (name !== '' && path !== '' && !projects.has(name)) projects.set(name, { name, path });
  }
  return [...projects.values()];
}
