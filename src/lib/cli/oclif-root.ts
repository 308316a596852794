/** What `@oclif/plugin-help` imports of oclif's root, whose import takes 48 ms: the build puts this in its place. */
export * as Args from '@oclif/core/args';
export { Command } from '@oclif/core/command';
export * as Flags from '@oclif/core/flags';

import { StewardHelp } from './help';

export const loadHelpClass = (): Promise<typeof StewardHelp> => Promise.resolve(StewardHelp);
