import { HOOK_VERBS } from '../lib/assistant/claude-code';
import { BaseCommand, boolean, word } from '../lib/cli/base-command';
import { hookCommand, isInternal, type CapturePlans, type HookConfig } from '../lib/cli/hook-command';
import { hookSettings, promptSetting } from '../lib/app/mirror';

export default class Hook extends BaseCommand {
  static override summary = 'Take what an assistant reports of its session.';
  static override description =
    'The assistant calls this, with its hook JSON on stdin. It notes that something happened, never what was said, but for the one line that asks for a reminder, a research or a queue entry once a work repository is set up (with WORK.CAPTURE_PROMPT whole the prompt that it stands in). It exits 0 whatever happens, because another code would block the assistant; --strict gives the real one.';
  static override args = {
    event: word({
      description: `What happened: ${HOOK_VERBS.join(', ')}.`,
      required: true,
    }),
  };
  static override flags = {
    json: boolean({
      description: 'With --strict, an error as JSON on stderr; what --dry-run prints is JSON anyway.',
      helpGroup: 'GLOBAL',
    }),
    strict: boolean({ description: 'Give the real exit code, and say what is wrong on stderr.' }),
    'no-tab': boolean({ description: "Leave the terminal's tab alone." }),
    'dry-run': boolean({ description: 'Print what would be done, and do nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> hook stop < hook.json',
    {
      description: 'Look at what a hook would do',
      command: '<%= config.bin %> hook tool --dry-run --json < hook.json',
    },
  ];
  static override related = ['sessions', 'statusline', 'sense today'];

  // Not through the parser: a mistake in the flags must not give an exit code that blocks the assistant.
  override async execute(): Promise<void> {
    await this.run();
  }

  private plans(): CapturePlans {
    const { context } = this;
    return {
      prompt: async (prompt) => (await import('../lib/app/capture')).planOfPrompt(context, prompt),
      sessionEnd: async (session) => (await import('../lib/app/capture')).planOfSessionEnd(context, session),
    };
  }

  async run(): Promise<undefined> {
    const { context } = this;
    const config = async (isPrompt: boolean): Promise<HookConfig> => ({
      settings: await hookSettings(context),
      prompt: isPrompt ? await promptSetting(context) : 'line',
    });
    process.exitCode = isInternal() ? 0 : await hookCommand(this.argv, config, this.plans());
    return undefined;
  }
}
