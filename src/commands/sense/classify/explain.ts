import { BaseCommand, text, word } from '../../../lib/cli/base-command';
import { explainClassification } from '../../../lib/sense/classify';
import { readClassifier } from '../../../lib/sense/classify-file';

export default class SenseClassifyExplain extends BaseCommand {
  static override summary = 'Say how an application is classified, and which rule decides it.';
  static override description =
    'Rules of sense/classify.yaml stand before the shipped ones; the first that matches wins; names are compared whole, without case.';
  static override args = {
    app: word({ required: true, description: 'The name as "sense today" shows it.' }),
  };
  static override flags = {
    'bundle-id': text({
      description: 'Its bundle id, desktop id or window class too.',
      helpValue: 'ID',
    }),
  };
  static override examples = [
    '<%= config.bin %> sense classify explain Firefox',
    '<%= config.bin %> sense classify explain Code --bundle-id com.microsoft.VSCode',
  ];
  static override related = ['sense today', 'config path'];

  async run(): Promise<ReturnType<typeof explainClassification>> {
    const { args, flags } = await this.parse(SenseClassifyExplain);
    const { area, templates } = this.context;
    const file = area.sense.classify;
    const classify = await readClassifier(templates, file);
    const result = explainClassification(classify, file, args.app, flags['bundle-id']);
    return this.show(result, () => result.explanation);
  }
}
