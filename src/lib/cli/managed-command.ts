import type { Resource } from '../agents/managed/client';
import { resourcesText } from '../agents/managed/view';
import { BaseCommand } from './base-command';

export abstract class ManagedCommand extends BaseCommand {
  /** Prints resources with times in the configured zone, or `none` if there are none. */
  protected async list(found: readonly Resource[], none = ''): Promise<void> {
    const { config } = await this.context.loadConfig();
    this.print(() => resourcesText(found, none, { ...this.terminal, zone: config.user.timezone }));
  }
}
