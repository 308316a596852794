/** What every run of a command that is not hot evaluates: the build makes one bundle of it, apart from the commands. */
export { start } from './cli-built';
export { BaseCommand } from './lib/cli/base-command';
export { table } from './lib/cli/output';
export { loadConfig } from './lib/config/load';
export { configPlaces } from './lib/config/show';
export { boolean, integer, string } from '@oclif/core/flags';
export { string as stringArg } from '@oclif/core/args';
