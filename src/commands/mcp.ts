import { BaseCommand, boolean } from '../lib/cli/base-command';
import { serveMcp } from '../lib/mcp/serve';
import { isTerminalInput } from '../lib/platform/process/stdin';

export default class Mcp extends BaseCommand {
  static override summary = 'Serve your record, sessions and issues to an assistant, over MCP.';
  static override description =
    'Speaks the Model Context Protocol on stdin and stdout, until stdin ends; an assistant starts it. Without --write nothing can be changed. With it the assistant may add, claim and close issues (with evidence), set reminders, and notify you.';
  static override flags = {
    write: boolean({ description: 'Also offer what changes something: remind, add, claim, close, notify.' }),
  };
  static override examples = [
    {
      description: 'Register it with Claude Code',
      command: 'claude mcp add <%= config.bin %> -- <%= config.bin %> mcp',
    },
    {
      description: 'The same, and let it write',
      command: 'claude mcp add <%= config.bin %> -- <%= config.bin %> mcp --write',
    },
  ];
  static override related = ['hooks install', 'work ready', 'sense today'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(Mcp);
    const say = (text: string): void => this.say(text);
    if (isTerminalInput()) {
      say(
        'An assistant speaks to this, not a person: claude mcp add steward -- steward mcp (Ctrl-C ends it)',
      );
    }
    await serveMcp(this.context, { write: flags.write, say });
    return undefined;
  }
}
