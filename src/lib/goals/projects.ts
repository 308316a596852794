/** A project of projects.md: `| **Name** | \`path\` | …` (decisions.md 6). */
export interface Project {
  name: string;
  /** As it is written; `~/` is the home. */
  path: string;
}

/** The tracked projects, in the order of the file; a name that stands twice names the first. */
export function parseProjects(markdown: string): Project[] {
  const projects = new Map<string, Project>();
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    const row = /^\s*\|\s*\*\*([^*|]+)\*\*\s*\|\s*`([^`|]+)`\s*\|/.exec(line);
    const [name = '', path = ''] = [row?.[1]?.trim(), row?.[2]?.trim()];
    if (name !== '' && path !== '' && !projects.has(name)) projects.set(name, { name, path });
  }
  return [...projects.values()];
}
