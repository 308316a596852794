import { join, resolve, sep } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { markdownFiles, rosterFiles } from '../../agents/markdown-files';
import { readRoster } from '../../agents/roster';
import type { Context } from '../../app/context';
import { openSense, setUpSense } from '../../app/sense';
import { StewardError, orElse } from '../../errors';
import { parseGoals, parseProjects } from '../../goals/record';
import { parseTerms } from '../../notify/speech/pronunciation';
import { sweepFolderCopies } from '../../platform/files/copy-new';
import { listFolder } from '../../platform/files/folder';
import { kindOf } from '../../platform/files/stat';
import { clean } from '../../platform/terminal/terminal';
import { ARTIFACT_NAME, readArtifact } from '../../sessions/artifact';
import { isSlug } from '../../sessions/slug';
import { parseLabels } from '../../work/labels';
import {
  findParts,
  PARTS,
  type ImportKind,
  type ImportPart,
  fileItem,
  folderItem,
  unfit,
  type PlannedItem,
} from './item';
import { senseItems, settingsItems } from './sources';

type ImportPlan = Awaited<ReturnType<typeof planImport>>;
export type ImportResult = ReturnType<typeof importReport>;

/**
 * Plans an import from another system's folder. Writes nothing. Throws `not_found` if the folder is missing.
 */
export async function planImport(context: Context, folder: string) {
  const from = resolve(folder);
  const { root } = context.area;
  const hint = 'Use the folder of the system that you are importing from.';
  if (kindOf(from) !== 'folder')
    throw new StewardError('not_found', `Folder ${clean(from)} not found.`, { hint });
  if (from === root || from.startsWith(`${root}${sep}`))
    throw new StewardError('usage', `${clean(from)} is steward's own folder.`, { hint });
  const { cut, parts } = findParts(from, root);
  const sources = await itemSources(context);
  const taken = new Set<string>();
  const items: PlannedItem[] = [];
  for (const part of PARTS) {
    for (const { path } of parts.filter((found) => found.part === part)) {
      for (const item of await sources[part](path)) {
        if (item.from === item.to) continue;
        const isSecond = item.state === 'new' && taken.has(item.to);
        if (item.state === 'new') taken.add(item.to);
        items.push(
          isSecond ? { ...item, state: 'conflict', why: 'an earlier item has the same name' } : item,
        );
      }
    }
  }
  // `cut`: the search stopped at a limit, so some parts may be missing.
  return { from, items, cut };
}

async function itemSources(
  context: Context,
): Promise<Record<ImportPart, (path: string) => Promise<PlannedItem[]> | PlannedItem[]>> {
  const { area } = context;
  const loaded = await context.loadConfig();
  const settings = settingsItems(context, loaded);
  const file =
    (kind: ImportKind, to: string, problem: (text: string, path: string) => unknown) =>
    async (path: string) => [await fileItem(kind, path, to, (text) => problem(text, path))];
  const noGoals = 'no goals under the heading "Active Goals"';
  const noProjects = 'no table rows such as | **Name** | `path` |';
  return {
    sense: async (folder) => [
      ...(await senseItems(folder, area)),
      ...(await settings('sense settings', join(folder, 'config.json'), 'sense')),
    ],
    work: async (folder) => {
      const labels = join(folder, 'labels.yml');
      return [
        ...(await settings('work settings', join(folder, 'work_repo.json'), 'workRepo')),
        ...(await settings('work settings', join(folder, 'config.yaml'), 'work')),
        ...(kindOf(labels) === 'file'
          ? await file('work labels', area.work.labels, parseLabels)(labels)
          : []),
      ];
    },
    pronunciations: file('pronunciations', area.pronunciations, parseTerms),
    sessions: (folder) => sessionItems(folder, area.sessions),
    goals: file('goals', area.goals, (text) => (parseGoals(text).length === 0 ? noGoals : undefined)),
    projects: file('projects', area.projects, (text) =>
      parseProjects(text).length === 0 ? noProjects : undefined,
    ),
    agents: (folder) => agentItems(context, folder),
    knowledge: (folder) => knowledgeItems(folder, area.knowledge),
  };
}

function sessionItems(folder: string, sessions: string): PlannedItem[] {
  const slugs = listFolder(folder).filter((name) => kindOf(join(folder, name, ARTIFACT_NAME)) === 'file');
  return slugs.sort().map((slug) => {
    const from = join(folder, slug);
    if (!isSlug(slug))
      return unfit('sessions', from, 'invalid slug (use lowercase letters, digits, ".", "_" and "-")');
    return orElse(undefined, () => readArtifact(join(from, ARTIFACT_NAME))) !== undefined
      ? folderItem('sessions', from, join(sessions, slug))
      : unfit('sessions', from, `no front matter in ${ARTIFACT_NAME}`);
  });
}

async function agentItems(context: Context, folder: string): Promise<PlannedItem[]> {
  const { problems } = await readRoster(folder);
  return Promise.all(
    rosterFiles(folder).map((name) => {
      const from = join(folder, name);
      const problem = problems.find(
        ({ file, level }) => level === 'error' && (file === from || file === name),
      );
      return fileItem('agents', from, join(context.area.agents, name), () => problem?.message);
    }),
  );
}

function knowledgeItems(folder: string, knowledge: string): Promise<PlannedItem[]> {
  const names = KNOWLEDGE_TYPES.flatMap((type) =>
    markdownFiles(join(folder, type)).map((name) => join(type, name)),
  );
  return Promise.all(
    names.map((name) => fileItem('knowledge', join(folder, name), join(knowledge, name), () => undefined)),
  );
}

/**
 * Imports the new items one by one. After an interruption, the next import continues with the remaining
 * items.
 */
export async function runImport(context: Context, plan: ImportPlan): Promise<ImportResult> {
  const wanted = plan.items.filter(({ state }) => state === 'new');
  const done = new Set<PlannedItem>();
  if (wanted.length > 0) {
    await setUpSense(context);
    const { locked } = await openSense(context);
    await locked(async () => {
      sweepFolderCopies(context.area.sessions);
      for (const item of wanted) if (await item.take()) done.add(item);
    });
  }
  const why = 'the target was created during the import';
  const items = plan.items.map((item): PlannedItem =>
    item.state === 'new' && !done.has(item) ? { ...item, state: 'conflict', why } : item,
  );
  return { ...importReport({ ...plan, items }, false), imported: done.size };
}

/** Returns the report for a plan that has not been carried out. */
export function importReport({ from, items, cut }: ImportPlan, dryRun: boolean) {
  const plain = items.map(({ take: _, ...item }) => item);
  return { from, dryRun, imported: 0, items: plain, cut };
}
