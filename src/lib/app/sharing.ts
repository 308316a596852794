import { basename, dirname, join } from 'node:path';

import { changeConfig, setKeys } from '../config/write';
import { nodeOf, whatIsWrong } from '../config/files';
import { SETTINGS_KEYS } from '../config/schema';
import { isLeaf } from '../config/leaf';
import {
  goalLines,
  parseGoals,
  parseProjects,
  readProjects,
  withGoalLines,
  withProject,
} from '../goals/record';
import { parseTerms, problemIn, withTerm } from '../notify/speech/pronunciation';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, listFolder } from '../platform/files/folder';
import { isMachineId } from '../platform/files/machine';
import { expandHome, processHost } from '../platform/files/paths';
import { marksOf } from '../platform/files/stat';
import { parseClassifyRules, withRule } from '../sense/classify-file';
import { APP_KINDS, RULE_KEYS, type ClassifyRule } from '../time/classify';
import { isRestricted } from '../sessions/restricted';
import { giveName, givenNames, namesFolder } from '../sessions/names';
import { sessionKey } from '../sessions/session-key';
import { isNameless } from '../sessions/slug';
import { currentSessions } from '../sessions/state';
import { machinesFolder } from '../sync/exchange';
import { hashedId, isHash } from '../sync/format';
import {
  KNOWN_FILE,
  SHARED_FILE,
  type SharedGroup,
  type SharedValue,
  type ShareDeps,
} from '../sync/settings';
import type { Context } from './context';
import { openSessions } from './sessions';

/** Returns a function that reads what this machine may share, and the files on which its result depends. */
export function openSharing(context: Context, folder: string) {
  const { area, clock, machineId } = context;
  const ids = listFolder(machinesFolder(folder)).filter((id) => isMachineId(id) && id !== machineId);
  const others = ids.map((id) => join(machinesFolder(folder), id, SHARED_FILE));
  const known = join(area.machine, KNOWN_FILE);
  const edited = [area.config, area.goals, area.projects, area.pronunciations, area.sense.classify];
  return {
    files: [...edited, namesFolder(area.machine), known, ...others],
    open: async (): Promise<ShareDeps> => ({
      nowMs: clock.now(),
      machineId,
      known,
      others,
      groups: { ...(await inFiles(context)), name: await sessionNames(context), route: routes(context) },
      changedMs: (files) => marksOf(files).newestMs,
    }),
  };
}

type Values = Map<string, readonly string[]>;

async function inFiles(context: Context): Promise<Record<string, SharedGroup>> {
  const { area } = context;
  const { repos } = (await context.loadConfig()).config.sense;
  const { home } = processHost();
  const places = [...repos.map((path) => ({ name: path, path })), ...readProjects(area.projects)];
  const closed = places
    .filter(({ path }) => isRestricted(path))
    .flatMap(({ name, path }) => [name, path].map((text) => basename(text).toLowerCase()));
  const goalIn = (lines: readonly string[]) => parseGoals(`# Active Goals\n${lines.join('\n  ')}\n`);
  return {
    app: {
      ...inFile(
        area.sense.classify,
        async (text, path) => {
          const rules = await parseClassifyRules(text, path);
          return new Map(rules.reverse().map(({ key, pattern, kind }) => [`${key}:${pattern}`, [kind]]));
        },
        (text, path, name, value) => withRule(text, path, ruleIn(name), value?.[0] ?? null),
      ),
      isValid: (name, [kind]) =>
        RULE_KEYS.includes(ruleIn(name).key) &&
        ruleIn(name).pattern.trim() !== '' &&
        APP_KINDS.some((each) => each === kind),
    },
    goal: {
      ...inFile(area.goals, goalLines, (text, _path, id, lines) => withGoalLines(text, id, lines)),
      isValid: (id, lines) => goalIn(lines).length === 1 && goalIn(lines)[0]?.id === id,
      isHidden: (_id, lines) =>
        goalIn(lines)
          .flatMap(({ repos = [], projects = [] }) => [...repos, ...projects])
          .some((name) => closed.includes(basename(name).toLowerCase())),
    },
    project: {
      ...inFile(
        area.projects,
        (text) => new Map(parseProjects(text).map(({ name, path }) => [name, [path]])),
        (text, _path, name, value) => withProject(text, name, value?.[0] ?? null),
      ),
      isValid: (name, [path = '']) => parseProjects(withProject('', name, path))[0]?.path === path,
      isHidden: (name, [path = '']) =>
        closed.includes(name.toLowerCase()) || isRestricted(expandHome(path, home)),
    },
    say: {
      ...inFile(
        area.pronunciations,
        (text, path) => new Map([...parseTerms(text, path)].map(([term, said]) => [term, [said]])),
        (text, path, term, value) => withTerm(text, path, term, value?.[0] ?? null),
      ),
      isValid: (term, [said]) => problemIn(term, said) === undefined,
    },
  };
}

function ruleIn(name: string): Pick<ClassifyRule, 'key' | 'pattern'> {
  const [key = '', ...pattern] = name.split(':');
  return { key: key as ClassifyRule['key'], pattern: pattern.join(':') };
}

function inFile(
  path: string,
  parse: (text: string, path: string) => Values | Promise<Values>,
  change: (text: string, path: string, name: string, value: SharedValue) => string | Promise<string>,
): Pick<SharedGroup, 'read' | 'write' | 'files'> {
  const stored = (): string | undefined => readText(path, { followLink: true });
  return {
    files: [path],
    async read() {
      const text = stored();
      return text === undefined ? undefined : parse(text, path);
    },
    async write(changes) {
      let text = stored() ?? '';
      for (const [name, value] of changes) text = await change(text, path, name, value);
      ensureFolder(dirname(path));
      replaceFile(path, text, { followLink: true });
    },
  };
}

/** The names that you gave to sessions, by the hash of a session's last id, which other machines know. */
async function sessionNames(context: Context): Promise<SharedGroup> {
  const folder = namesFolder(context.area.machine);
  const sessions = Object.values(currentSessions(await openSessions(context)).sessions);
  const keyed = sessions.map((session) => {
    const keys = session.sessionIds.map((id) => sessionKey(session.assistant, id));
    return { session, keys, hash: hashedId('session', keys.at(-1) ?? '') };
  });
  const known = new Map(keyed.map(({ hash, session }) => [hash, session]));
  const hashes = new Map(keyed.flatMap(({ keys, hash }) => keys.map((key) => [key, hash])));
  const hashOf = (key: string): string => (isHash(key) ? key : (hashes.get(key) ?? hashedId('session', key)));
  return {
    files: [folder],
    read: () => Promise.resolve(new Map([...givenNames(folder)].map(([key, name]) => [hashOf(key), [name]]))),
    write(changes) {
      for (const [hash, value] of changes)
        giveName(folder, known.get(hash) ?? { sessionIds: [hash] }, value?.[0] ?? '');
      return Promise.resolve();
    },
    isValid: (hash, [name = '']) => isHash(hash) && name !== '' && name.length <= 80,
    isHidden: (hash) => isNameless(known.get(hash)?.slug ?? ''),
  };
}

/** Which kinds of notification go to which channels. Never a credential or an address. */
function routes(context: Context): SharedGroup {
  const events = Object.keys(SETTINGS_KEYS.notifications.routing);
  const keyOf = (event: string): string =>
    event === 'voice' ? 'notifications.voice.events' : `notifications.routing.${event}`;
  return {
    files: [context.area.config],
    async read() {
      const changes = [...events, 'voice'].map((event) => ({
        key: keyOf(event),
        to: (stored: unknown) => stored,
      }));
      const stored = await changeConfig(context, changes, { dryRun: true });
      const values = stored.map(({ key, before }) => [
        key.split('.').at(key.endsWith('events') ? 1 : 2),
        before,
      ]);
      return new Map(values.filter((row): row is [string, string[]] => Array.isArray(row[1])));
    },
    write: (changes) =>
      setKeys(
        context,
        Object.fromEntries([...changes].map(([event, value]) => [keyOf(event), value ?? undefined])),
      ),
    isValid(event, value) {
      const node = nodeOf(keyOf(event));
      return isLeaf(node) && whatIsWrong(node, value) === undefined;
    },
  };
}
