import { toIso } from '../../platform/time/clock';
import type { GitFolder } from '../../platform/files/git-folder';
import { clean } from '../../platform/terminal/terminal';
import type { SenseEvent } from '../event';
import { shownMs, type Scan } from './scan';

/** Characters kept of a subject or a branch name. */
const MAX_TEXT = 200;
/** An author date may be ahead of the committer date by a time zone's mistake, not by more. */
const MAX_AHEAD_SEC = 86_400;

/** The event of a commit. Nothing of the commit reaches it unchecked. */
export function eventOf(
  { commit, identity, branch }: Scan['commits'][number],
  folder: GitFolder,
  machineId: string,
  nowMs: number,
): SenseEvent {
  const authoredSec = /^\d{1,12}$/.test(commit.authored) ? Number(commit.authored) : commit.committedSec;
  const authoredMs = Math.min(authoredSec, commit.committedSec + MAX_AHEAD_SEC) * 1000;
  return {
    ts: toIso(shownMs(commit, nowMs)),
    type: 'git-commit',
    source: 'git',
    repo: clean(folder.name),
    detail: {
      sha: commit.sha,
      subject: cut(clean(commit.subject).trim()),
      ...(branch === undefined ? {} : { branch: cut(clean(branch)) }),
      authoredAt: toIso(authoredMs),
      identity,
      path: clean(folder.mainRoot),
      machine: machineId,
    },
  };
}

/** The first characters of a text; a pair of surrogates is not torn. */
function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '');
}
