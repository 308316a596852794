import type { SyncContext } from './publish';
import { readState, withoutFormer, writeState, type SyncState } from './state';

/** Records that an exchange removed purged data from a repository. `before` is the state before the exchange. */
export async function endPurge({ deps, locked }: SyncContext, repo: string, before: SyncState) {
  const known = before.others?.[repo];
  if (known === undefined || before.removals.length > 0) return;
  await locked(() => {
    const state = readState(deps.state);
    // Data that was purged during the exchange may still be in the repository.
    if (state.others?.[repo] === known) writeState(deps.state, withoutFormer(state, [repo]));
  });
}
