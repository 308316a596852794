import type { Command as OclifCommand } from '@oclif/core/command';
import { CommandHelp, Help } from '@oclif/core/help';

// What @oclif/plugin-help imports of oclif's root, whose import takes 48 ms: the build puts this module in its place.
export * as Args from '@oclif/core/args';
export { Command } from '@oclif/core/command';
export * as Flags from '@oclif/core/flags';
export const loadHelpClass = (): Promise<typeof StewardHelp> => Promise.resolve(StewardHelp);

/** Help of a command, with the commands that a reader may want next at its end. */
class StewardCommandHelp extends CommandHelp {
  /** The summary is the first line already; here comes what goes beyond it. */
  protected override description(): string | undefined {
    const { description } = this.command;
    return description === undefined ? undefined : this.wrap(description);
  }

  /** oclif joins what a flag may be with bars, and a long list of them breaks in the middle of a word. */
  protected override flags(
    flags: Parameters<CommandHelp['flags']>[0],
  ): [string, string | undefined][] | undefined {
    return super
      .flags(flags)
      ?.map(([left, right]) => [
        left,
        right?.replace(
          /<options: (\S+)>/,
          (_, options: string) => `<options: ${options.replaceAll('|', ', ')}>`,
        ),
      ]);
  }

  protected override sections(): ReturnType<CommandHelp['sections']> {
    return [...super.sections(), { header: 'RELATED', generate: () => relatedOf(this.command) }];
  }
}

/** oclif's help in steward's words: no line about the runtime, related commands at the end. */
export class StewardHelp extends Help {
  protected override CommandHelpClass = StewardCommandHelp;

  override formatRoot(): string {
    const description = this.config.pjson.description ?? '';
    const start = this.section(
      'START',
      [
        '$ steward up      Set up with one question, then capture until Ctrl-C.',
        '$ steward init    Set up question by question.',
        '$ steward status  See every part, and what comes next.',
      ].join('\n'),
    );
    const usage = this.section('USAGE', '$ steward COMMAND [--json]');
    const more = this.section('MORE', '$ steward help COMMAND\n$ steward --version');
    return [this.wrap(description), start, usage, more].join('\n\n');
  }

  /** oclif leaves the sentence on top as long as it is. */
  protected override formatTopic(topic: Parameters<Help['formatTopic']>[0]): string {
    const [summary = '', ...rest] = super.formatTopic(topic).split('\n');
    return [this.wrap(summary), ...rest].join('\n');
  }
}

function relatedOf(command: OclifCommand.Loadable): string | undefined {
  const related: unknown = command['related'];
  if (!Array.isArray(related) || related.length === 0) return undefined;
  return related.map((name) => `$ steward ${String(name)}`).join('\n');
}
