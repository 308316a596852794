import { join, resolve, sep } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { readRoster, rosterFiles } from '../../agents/roster';
import { StewardError, toStewardError } from '../../errors';
import { parseProjects, parseGoals } from '../../goals/record';
import { parseTerms } from '../../notify/speech/terms';
import { sweepFolderCopies } from '../../platform/files/copy-new';
import { listFolder } from '../../platform/files/folder';
import { kindOf } from '../../platform/files/stat';
import { clean } from '../../platform/terminal/terminal';
import { ARTIFACT_NAME, readArtifact } from '../../sessions/artifact';
import { isSlug } from '../../sessions/slug';
import { parseLabels } from '../../work/labels';
import { openRoster } from '../../app/agents';
import type { Context } from '../../app/context';
import { openSense, setUpSense } from '../../app/sense';
import { fileItem, folderItem, unfit, type ImportItem, type PlannedItem } from './item';
import { findParts, type FoundParts } from './find';
import { senseItems, settingsItems } from './sources';

export interface ImportPlan {
  from: string;
  items: PlannedItem[];
  /** A bound was reached: something further down may have been missed. */
  cut: boolean;
}

export interface ImportResult {
  from: string;
  dryRun: boolean;
  imported: number;
  items: ImportItem[];
  cut: boolean;
}

/**
 * What of another system's folder can be taken over (decisions.md 1): parts are known by their shape, wherever below it
 * they lie. Nothing is written, and the originals are only ever read. No such folder is `not_found`.
 */
export async function planImport(context: Context, folder: string): Promise<ImportPlan> {
  const from = resolve(folder);
  const { root } = context.area;
  if (kindOf(from) !== 'folder') {
    throw new StewardError('not_found', `There is no folder ${clean(from)}.`, {
      hint: 'Name the folder of the system whose data are to be imported.',
    });
  }
  if (from === root || from.startsWith(`${root}${sep}`)) {
    throw new StewardError('usage', `${clean(from)} belongs to steward already.`, {
      hint: 'Name the folder of the other system.',
    });
  }
  const { cut, ...parts } = findParts(from, root);
  const items = await itemsOf(context, { cut, ...parts });
  return { from, items: onlyFirst(items), cut };
}

/** Two things for one place: the first found is taken. */
function onlyFirst(items: readonly PlannedItem[]): PlannedItem[] {
  const taken = new Set<string>();
  return items.map((item): PlannedItem => {
    if (item.state !== 'new') return item;
    if (taken.has(item.to)) return { ...item, state: 'conflict', why: 'another one of them comes first' };
    taken.add(item.to);
    return item;
  });
}

async function itemsOf(context: Context, parts: FoundParts): Promise<PlannedItem[]> {
  const { area } = context;
  const loaded = await context.loadConfig();
  const { paths } = loaded.config.user;
  const items: PlannedItem[] = [];
  for (const folder of parts.sense) {
    items.push(...(await senseItems(folder, area)));
    const path = join(folder, 'config.json');
    items.push(
      ...(await settingsItems(context, loaded, {
        kind: 'sense settings',
        path,
        id: 'sense',
        format: 'json',
      })),
    );
  }
  for (const folder of parts.work) {
    const kind = 'work settings';
    const repo = join(folder, 'work_repo.json');
    const config = join(folder, 'config.yaml');
    // Whether it is private has to be seen anew: only the name is taken.
    items.push(
      ...(await settingsItems(context, loaded, {
        kind,
        path: repo,
        id: 'workRepo',
        format: 'json',
        only: ['repo'],
      })),
    );
    items.push(...(await settingsItems(context, loaded, { kind, path: config, id: 'work', format: 'yaml' })));
    const labels = join(folder, 'labels.yml');
    if (kindOf(labels) === 'file') {
      items.push(
        await fileItem('work labels', labels, area.work.labels, async (text) => {
          await parseLabels(text, labels);
          return undefined;
        }),
      );
    }
  }
  for (const path of parts.pronunciations) {
    items.push(
      await fileItem('pronunciations', path, area.pronunciations, (text) => void parseTerms(text, path)),
    );
  }
  for (const folder of parts.sessions) items.push(...sessionItems(folder, paths.sessions));
  for (const path of parts.goals) {
    items.push(
      await fileItem('goals', path, paths.goals, (text) =>
        parseGoals(text).length === 0 ? 'no goals under a heading "Active Goals"' : undefined,
      ),
    );
  }
  for (const path of parts.projects) {
    items.push(
      await fileItem('projects', path, paths.projects, (text) =>
        parseProjects(text).length === 0 ? 'no table rows of the shape | **Name** | `path` |' : undefined,
      ),
    );
  }
  for (const folder of parts.agents) items.push(...(await agentItems(context, folder)));
  for (const folder of parts.knowledge) items.push(...(await knowledgeItems(folder, area.knowledge)));
  // What the configuration points at is read where it lies.
  return items.filter(({ from, to }) => from !== to);
}

function sessionItems(folder: string, sessions: string): PlannedItem[] {
  const slugs = listFolder(folder).filter((name) => kindOf(join(folder, name, ARTIFACT_NAME)) === 'file');
  return slugs.sort().map((slug) => {
    const from = join(folder, slug);
    if (!isSlug(slug))
      return unfit('sessions', from, 'its name is no slug: small letters, digits, ".", "_" and "-"');
    const item = folderItem('sessions', from, join(sessions, slug));
    return hasFrontMatter(join(from, ARTIFACT_NAME))
      ? item
      : unfit('sessions', from, `its ${ARTIFACT_NAME} has no front matter`);
  });
}

function hasFrontMatter(path: string): boolean {
  try {
    return readArtifact(path) !== undefined;
  } catch (error) {
    if (toStewardError(error).kind === 'internal') throw error;
    return false;
  }
}

async function agentItems(context: Context, folder: string): Promise<PlannedItem[]> {
  const { problems } = await readRoster({ ...openRoster(context), folder });
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

async function knowledgeItems(folder: string, knowledge: string): Promise<PlannedItem[]> {
  const items: PlannedItem[] = [];
  for (const type of KNOWLEDGE_TYPES) {
    const names = listFolder(join(folder, type)).filter(
      (name) => name.endsWith('.md') && !name.startsWith('.'),
    );
    for (const name of names.sort()) {
      items.push(
        await fileItem('knowledge', join(folder, type, name), join(knowledge, type, name), () => undefined),
      );
    }
  }
  return items;
}

/**
 * Takes over what is new, one whole file or folder at a time: what is interrupted is finished by the next run, which
 * finds the rest. No capture runs meanwhile.
 */
export async function runImport(context: Context, plan: ImportPlan): Promise<ImportResult> {
  const wanted = plan.items.filter(({ state }) => state === 'new');
  const done = new Set<PlannedItem>();
  if (wanted.length > 0) {
    await setUpSense(context);
    const { config } = await context.loadConfig();
    const { locked } = await openSense(context);
    await locked(async () => {
      sweepFolderCopies(config.user.paths.sessions);
      for (const item of wanted) if (await item.take()) done.add(item);
    });
  }
  return {
    ...importReport(plan, false),
    imported: done.size,
    items: plan.items.map((item) =>
      item.state === 'new' && !done.has(item)
        ? shownItem({ ...item, state: 'conflict', why: 'something was put there in this moment' })
        : shownItem(item),
    ),
  };
}

/** The plan as it is shown, nothing imported. */
export function importReport({ from, items, cut }: ImportPlan, dryRun: boolean): ImportResult {
  return { from, dryRun, imported: 0, items: items.map(shownItem), cut };
}

function shownItem({ kind, from, to, state, why }: ImportItem): ImportItem {
  return { kind, from, to, state, why };
}
