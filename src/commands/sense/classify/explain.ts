import { BaseCommand, text, word } from '../../../lib/cli/base-command';
import { explainClassification } from '../../../lib/time/classify';
import { readClassifier } from '../../../lib/sense/classify-file';

export default class SenseClassifyExplain extends BaseCommand {
  static override summary = 'Show how an application is classified, and by which rule';
  static override description =
    'The first matching rule wins; your rules in sense/classify.yaml are checked before the built-in rules. Names must match in full, ignoring case.';
  static override args = {
    app: word({ required: true, description: 'Application name, as shown by "steward sense today".' }),
  };
  static override flags = {
    'bundle-id': text({
      description: 'Bundle id, desktop id or window class.',
      helpValue: 'ID',
    }),
  };
  static override examples = [
    'sense classify explain Firefox',
    'sense classify explain Code --bundle-id com.microsoft.VSCode',
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
