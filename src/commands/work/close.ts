import { BaseCommand, text, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { closeIssue, textOrFile, type Closed } from '../../lib/work/actions';
import { closedText } from '../../lib/work/view-results';

export default class WorkClose extends BaseCommand {
  static override summary = 'Close an issue or a reminder with evidence that it is done';
  static override description = 'Adds the evidence as a comment, then closes the issue as completed.';
  static override args = { number: issueNumber() };
  static override flags = {
    evidence: text({
      description: 'Evidence that the issue is done; @FILE reads it from a file.',
      required: true,
      helpValue: 'TEXT|@FILE',
    }),
  };
  static override examples = [
    'work close 12 --evidence "Fixed in 3f2a91c; all tests pass"',
    'work close 12 --evidence @test-output.txt',
  ];
  static override related = ['work show NUMBER', 'work board'];

  async run(): Promise<Closed> {
    const { args, flags } = await this.parse(WorkClose);
    const evidence = textOrFile(flags.evidence, 'evidence');
    const { deps } = await openWork(this.context);
    const closed = await closeIssue(deps, { number: args.number, evidence });
    return this.show(closed, () => closedText(closed));
  }
}
