import { throwIfBug } from '../../errors';
import { branchOf, checkoutOf, gitFolderAt } from '../../platform/files/git-folder';
import { isRestricted } from '../../sessions/restricted';
import { clean } from '../../platform/terminal/terminal';
import type { FocusDetail } from '../../time/event';
import type { Desktop, FrontApp } from '../front-app/adapter';
import { focusedPane } from './focused-pane';

/** The repository, folder and sessions in the focused pane. Empty if unknown. */
export type PanePlace = { repo?: string } & Pick<FocusDetail, 'path' | 'branch' | 'otherFolder' | 'sessions'>;

export interface PlaceDeps {
  desktop: Desktop;
  repos: readonly string[];
  /** Returns the assistant sessions that run in a terminal. */
  sessionsOn: (tty: string) => Promise<NonNullable<FocusDetail['sessions']>>;
}

const MAX_NAME = 200;
const MAX_PATH = 1000;
const MAX_SESSIONS = 10;

/**
 * Returns the repository, branch and sessions of the focused terminal pane; empty if the application isn't a
 * terminal.
 */
export async function readPlace(
  deps: PlaceDeps,
  app: FrontApp,
  inputMs: number | undefined,
): Promise<PanePlace> {
  if (deps.desktop.platform !== 'linux') return {};
  const asked = focusedPane({ desktop: deps.desktop, inputMs }, app);
  // The application counts, even if its panes are unknown.
  const pane = await asked.catch((error: unknown) => void throwIfBug(error));
  if (pane === undefined) return {};
  const sessions = (await deps.sessionsOn(pane.tty)).slice(0, MAX_SESSIONS);
  return {
    ...(pane.folder === undefined ? {} : placeOf(pane.folder, deps.repos)),
    ...(sessions.length === 0 ? {} : { sessions }),
  };
}

/** Returns the watched repository that contains the folder; `otherFolder` for others and restricted folders. */
export function placeOf(folder: string, repos: readonly string[]): PanePlace {
  const checkout = checkoutOf(folder);
  const isWatched = checkout !== undefined && repos.some((path) => gitFolderAt(path)?.id === checkout.id);
  if (!isWatched || isRestricted(folder)) return { otherFolder: true };
  const branch = branchOf(checkout.gitDir);
  return {
    repo: clean(checkout.name).slice(0, MAX_NAME),
    path: clean(checkout.root).slice(0, MAX_PATH),
    ...(branch === null ? {} : { branch: clean(branch).slice(0, MAX_NAME) }),
  };
}
