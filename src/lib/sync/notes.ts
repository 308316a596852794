import type { SyncContext } from './publish';
import { readState, withFormer, withoutFormer, writeState, type SyncState } from './state';
import { withForeign } from './writer';

/** Records a git repository that is no longer used, so that a later purge names it. */
export async function noteFormer({ deps, locked }: SyncContext, repo: string): Promise<void> {
  await locked(() => writeState(deps.state, withFormer(readState(deps.state), repo)));
}

/** Records that another machine replaces what this one publishes. */
export async function noteForeign({ deps, locked }: SyncContext): Promise<void> {
  await locked(() => writeState(deps.state, withForeign(readState(deps.state), deps.clock.now())));
}

/** Records that an exchange removed purged data from a repository. `before` is the state before the exchange. */
export async function endPurge(
  { deps, locked }: SyncContext,
  repo: string,
  before: SyncState,
): Promise<void> {
  const known = before.others?.[repo];
  if (known === undefined || before.removals.length > 0) return;
  await locked(() => {
    const state = readState(deps.state);
    // Data that was purged during the exchange may still be in the repository.
    if (state.others?.[repo] === known) writeState(deps.state, withoutFormer(state, [repo]));
  });
}
