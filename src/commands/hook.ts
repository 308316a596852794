import { ANSWER_VERB, HOOK_VERBS } from '../lib/assistant/payload';
import { BaseCommand, boolean, word } from '../lib/cli/base-command';
import { hookCommand, isInternal, type CapturePlans } from '../lib/cli/hook-command';
import { hookSettings } from '../lib/config/hook-settings';
import { ASSISTANT_IDS } from '../lib/sessions/session-key';

export default class Hook extends BaseCommand {
  static override hidden = true;
  static override summary = 'Record a hook event of an assistant session';
  static override description =
    'Assistants call this command with hook JSON on stdin. Records the event without its text. If a work repository is set up, also records prompt lines that ask for a reminder, research or a queue entry; WORK.CAPTURE_PROMPT=whole records the entire prompt. Exits 0 even on errors, to avoid blocking the assistant; --strict returns the real exit code.';
  static override args = {
    event: word({
      description: `Hook event, one of ${HOOK_VERBS.join(', ')}.`,
      required: true,
    }),
    assistant: word({
      description: `Calling assistant, one of ${ASSISTANT_IDS.join(', ')} (default: claude-code).`,
    }),
  };
  static override flags = {
    json: boolean({
      description: 'With --strict, print errors as JSON on stderr. --dry-run always prints JSON.',
      helpGroup: 'GLOBAL',
    }),
    strict: boolean({ description: 'Return the real exit code, and print errors to stderr.' }),
    'no-tab': boolean({ description: "Don't change the terminal tab." }),
    'dry-run': boolean({ description: 'Only show what would be done.' }),
  };
  static override examples = [
    'hook stop < hook.json',
    'hook tool codex < hook.json',
    {
      description: 'Show what a hook would do',
      command: 'hook tool --dry-run --json < hook.json',
    },
  ];
  static override related = ['sessions', 'statusline', 'sense today'];

  // Bypasses oclif's parser, whose exit code for an invalid flag would block the assistant.
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
    if (this.argv[0] === ANSWER_VERB) {
      if (!isInternal()) await (await import('../lib/cli/answer-hook')).answerHook(context, this.argv[1]);
      return undefined;
    }
    const options = { plans: this.plans() };
    process.exitCode = isInternal() ? 0 : await hookCommand(this.argv, () => hookSettings(context), options);
    return undefined;
  }
}
