import type { Command as OclifCommand } from '@oclif/core/command';
import { CommandHelp, Help } from '@oclif/core/help';
import type * as Interfaces from '@oclif/core/interfaces';

import { foldFor } from '../platform/terminal/fold';
import { terminalOf } from '../platform/terminal/stdio';

// The build substitutes this module for oclif's main module in @oclif/plugin-help, because the main module
// takes 48 ms to load.
export * as Args from '@oclif/core/args';
export { Command } from '@oclif/core/command';
export * as Flags from '@oclif/core/flags';
export const loadHelpClass = (): Promise<typeof StewardHelp> => Promise.resolve(StewardHelp);

class StewardCommandHelp extends CommandHelp {
  /** Begins with the description, below the summary. */
  override generate(): string {
    const { description } = this.command;
    const sections = super.generate();
    return description === undefined ? sections : `${this.wrap(description)}\n\n${sections}`;
  }

  protected override description(): undefined {
    return undefined;
  }

  /** Examples begin with a command of steward, unless they name the program themselves. */
  protected override examples(examples: Parameters<CommandHelp['examples']>[0]): string | undefined {
    const whole = (text: string): string =>
      text.includes('config.bin') ? text : `${this.config.bin} ${text}`;
    const all = [examples ?? []]
      .flat()
      .map((one) => (typeof one === 'string' ? whole(one) : { ...one, command: whole(one.command) }));
    return super.examples(all)?.replaceAll('\n\n', '\n');
  }

  /** Shows `--json` below the command's own flags, and omits `--debug`. */
  protected override groupFlags(
    flags: Parameters<CommandHelp['groupFlags']>[0],
  ): ReturnType<CommandHelp['groupFlags']> {
    const { flagGroups, mainFlags } = super.groupFlags(flags.filter(({ name }) => name !== 'debug'));
    const { GLOBAL = [], ...groups } = flagGroups;
    return { flagGroups: groups, mainFlags: [...mainFlags, ...GLOBAL] };
  }

  /** Formats the usage line. Optional flags appear only in the list of flags. */
  protected override defaultUsage(): string {
    const { id, args, flags } = this.command;
    const required = Object.values(flags)
      .filter((flag) => flag.required === true)
      .map((flag) => `--${flag.name} ${String('helpValue' in flag ? flag.helpValue : 'VALUE')}`);
    const given = Object.values(args).map((arg) => this.arg(arg));
    return [id, ...given, ...required, '[FLAGS]'].join(' ');
  }

  /**
   * Separates a flag's allowed values with commas instead of oclif's vertical bars, so that long lists wrap.
   */
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

  /** Puts a body of one line beside its header. */
  override section(header: string, body: string | [string, string | undefined][]): string {
    const [head, line, ...more] = super.section(header, body).split('\n');
    const isShort = (header === 'USAGE' || header === 'RELATED') && line !== undefined && more.length === 0;
    return isShort ? `${head}  ${line.trimStart()}` : super.section(header, body);
  }

  private related(): string | undefined {
    const related: unknown = this.command['related'];
    if (!Array.isArray(related) || related.length === 0) return undefined;
    return this.wrap(related.map((name) => `steward ${String(name)}`).join(', '));
  }

  protected override sections(): ReturnType<CommandHelp['sections']> {
    return [...super.sections(), { header: 'RELATED', generate: () => this.related() }];
  }
}

/** The commands of the first page of the help, at most 20. */
const FIRST_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'EVERY DAY': ['inbox', 'sense:today', 'time', 'week', 'standup', 'sessions', 'go', 'notify:mute'],
  'SET UP': ['up', 'init', 'install', 'config:set', 'doctor', 'uninstall'],
  'WORK AND AGENTS': ['work:board', 'work:remind', 'agents:route'],
  'LOOK INSIDE': ['status', 'usage', 'open'],
};

/** Help like oclif's, but with a short first page and without the version and runtime. */
export class StewardHelp extends Help {
  protected override CommandHelpClass = StewardCommandHelp;

  constructor(config: Interfaces.Config, opts: Partial<Interfaces.HelpOptions> = {}) {
    // oclif's lists can be two columns wider than maxWidth.
    super(config, { maxWidth: terminalOf().columns - 2, ...opts });
  }

  /** Wraps lines that oclif doesn't wrap, such as examples. */
  protected override log(...lines: string[]): void {
    super.log(...lines.map((line) => foldFor('stdout', line)));
  }

  /** Omits hidden commands, which oclif lists with `--all`. */
  protected override get sortedCommands(): OclifCommand.Loadable[] {
    return super.sortedCommands.filter(({ hidden }) => hidden !== true);
  }

  /** Omits topics that are also commands of the topic above, because the help lists those too. */
  protected override get sortedTopics(): Interfaces.Topic[] {
    const own = new Set(this.config.commands.map(({ id }) => id));
    return super.sortedTopics.filter(({ name }) => !name.includes(':') || !own.has(name));
  }

  /** Shows the help of `help` itself, a word that oclif skips. */
  override async showHelp(argv: string[]): Promise<void> {
    const [own] = argv.join(' ') === 'help' ? this.config.commands.filter(({ id }) => id === 'help') : [];
    await (own === undefined ? super.showHelp(argv) : this.showCommandHelp(own));
  }

  override formatRoot(): string {
    return this.wrap(this.config.pjson.description ?? '');
  }

  /** Shows the commands that most people need; `steward help --all` shows every command. */
  override async showRootHelp(): Promise<void> {
    if (this.opts.all === true) return super.showRootHelp();
    const summaries = new Map(this.config.commands.map(({ id, summary }) => [id, summary ?? '']));
    const groups = Object.entries(FIRST_COMMANDS).map(([title, ids]) =>
      this.section(
        title,
        this.renderList(
          ids.map((id) => [id.replaceAll(':', ' '), summaries.get(id)]),
          { indentation: 2, stripAnsi: this.opts.stripAnsi ?? false },
        ),
      ),
    );
    const more = this.section('MORE', '$ steward help --all\n$ steward COMMAND --help');
    this.log([this.formatRoot(), ...groups, more].join('\n\n'));
  }

  /** Wraps the summary, which oclif would print on one line. */
  protected override formatTopic(topic: Parameters<Help['formatTopic']>[0]): string {
    const [summary = '', ...rest] = super.formatTopic(topic).split('\n');
    return [this.wrap(summary), ...rest].join('\n');
  }
}
