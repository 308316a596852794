import { listAll, type Resource } from '../agents/managed/client';
import { resourcesText } from '../agents/managed/view';
import { BaseCommand } from './base-command';
import { withManaged } from './managed-client';

type ListInput = Parameters<typeof listAll>;

export abstract class ManagedCommand extends BaseCommand {
  /** Prints resources with times in the configured zone, or `none` if there are none. */
  protected async list(found: readonly Resource[], none = ''): Promise<void> {
    const { config } = await this.context.loadConfig();
    this.print(() => resourcesText(found, none, { ...this.terminal, zone: config.user.timezone }));
  }

  /** Fetches and prints at most `limit` resources, and says if there are more. */
  protected async listFirst(
    kind: ListInput[1],
    { query = [], limit, none }: { query?: ListInput[2]; limit: number; none: string },
  ): Promise<Resource[]> {
    const found = await withManaged(this.context, ({ deps }) => listAll(deps, kind, query, limit + 1));
    const shown = found.slice(0, limit);
    await this.list(shown, none);
    this.sayIfCut(found, limit);
    return shown;
  }
}
