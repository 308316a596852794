import { BaseCommand, boolean } from '../lib/cli/base-command';
import { serveMcp } from '../lib/mcp/serve';
import { isTerminalInput } from '../lib/platform/process/stdin';

export default class Mcp extends BaseCommand {
  static override summary = 'Serve your record, sessions and issues to an assistant over MCP';
  static override description =
    'An assistant starts this server and talks to it on stdin and stdout (Model Context Protocol). It is read-only. With --write, the assistant may also add, claim and close issues, set reminders and notify you.';
  static override flags = {
    write: boolean({
      description: 'Also offer the tools that write: remind, add_issue, claim, close, notify.',
    }),
  };
  static override examples = [
    {
      description: 'Register it with Claude Code',
      command: 'claude mcp add <%= config.bin %> -- <%= config.bin %> mcp',
    },
    {
      description: 'Register it with the tools that write',
      command: 'claude mcp add <%= config.bin %> -- <%= config.bin %> mcp --write',
    },
  ];
  static override related = ['hooks install', 'work ready', 'sense today'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(Mcp);
    const say = (text: string): void => this.say(text);
    if (isTerminalInput()) {
      say(
        'This server is for assistants. Register it: claude mcp add steward -- steward mcp (Ctrl-C to stop)',
      );
    }
    await serveMcp(this.context, { write: flags.write, say });
    return undefined;
  }
}
