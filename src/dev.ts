import { Plugin } from '@oclif/core/config';
import type * as Interfaces from '@oclif/core/interfaces';
import { dirname } from 'node:path';

import pjson from '../package.json';
import { COMMANDS } from './command-table';
import { hotCall, runHot, type HotBundle, type HotCommand } from './hot';
import { versionLine } from './lib/platform/version';
import { runCli, type CommandClass, type Manifest } from './lib/cli/run';
import { writeOut } from './lib/platform/terminal/stdio';

/** The contents of package.json, but with the help class loaded from source. */
const PACKAGE = {
  ...pjson,
  oclif: { ...pjson.oclif, helpClass: { target: './src/lib/cli/help.ts', identifier: 'StewardHelp' } },
} as unknown as Interfaces.PJSON;

/** The entry of each bundle that scripts/build.mjs writes for a hot command. */
const HOT: Readonly<Record<HotBundle, () => Promise<HotCommand>>> = {
  hook: () => import('./lib/cli/hook-command'),
  statusline: () => import('./lib/cli/statusline'),
  'notify-send': () => import('./lib/cli/notify-send-hot'),
  overview: () => import('./lib/cli/overview-hot'),
};

/** Runs steward from source. Help and completion load every command, so new commands work without a build. */
export async function startFromSource(argv: readonly string[]): Promise<void> {
  const version = versionLine(argv);
  if (version !== undefined) return void writeOut(version);
  const root = dirname(__dirname);
  const hot = hotCall(argv);
  const answered = hot === undefined ? argv : await runHot(hot, await HOT[hot.bundle](), root);
  if (typeof answered === 'number') process.exitCode = answered;
  else
    await runCli({ root, pjson: PACKAGE, table: COMMANDS, manifest: () => sourceManifest(root) }, answered);
}

/** Builds the oclif manifest by loading all commands. */
export async function sourceManifest(root: string): Promise<Manifest> {
  const plugin = new Plugin({
    root,
    pjson: pjson as unknown as Interfaces.PJSON,
    isRoot: true,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  });
  const classes: Record<string, CommandClass> = {};
  for (const [id, load] of Object.entries(COMMANDS)) classes[id] = (await load()).default;
  Reflect.set(plugin, 'commandCache', classes);
  await plugin.load();
  const ids = Object.keys(plugin.manifest.commands).sort();
  const commands = Object.fromEntries(ids.map((id) => [id, plugin.manifest.commands[id]]));
  return JSON.parse(JSON.stringify({ version: plugin.version, commands })) as Manifest;
}
