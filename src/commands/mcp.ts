import { BaseCommand, boolean } from '../lib/cli/base-command';
import { serveMcp } from '../lib/mcp/serve';

export default class Mcp extends BaseCommand {
  static override summary = 'Serve your record, sessions and issues to an assistant over MCP';
  static override description =
    'Assistants start this server and call it over stdin and stdout, using the Model Context Protocol. The server is read-only by default. With --write, assistants can also add, claim and close issues, set reminders, notify you and ask you questions.';
  static override flags = {
    write: boolean({
      description: 'Also offer the write tools: remind, add_issue, claim, close, notify, ask_me.',
    }),
  };
  static override examples = [
    {
      description: 'Register the server with Claude Code',
      command: 'claude mcp add <%= config.bin %> -- <%= config.bin %> mcp',
    },
    {
      description: 'Register the server with its write tools',
      command: 'claude mcp add <%= config.bin %> -- <%= config.bin %> mcp --write',
    },
  ];
  static override related = ['install', 'work ready', 'sense today'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(Mcp);
    if (process.stdin.isTTY) {
      this.say(
        'This server is for assistants. Press Ctrl-C to stop it. To register it: claude mcp add steward -- steward mcp',
      );
    }
    await serveMcp(this.context, { write: flags.write, say: this.say });
    return undefined;
  }
}
