import { resolve } from 'node:path';

import { serveDaemon } from '../lib/cli/serve';
import { BaseCommand, text } from '../lib/cli/base-command';
import { withDemo } from '../lib/demo/folder';
import { runChild } from '../lib/platform/process/own-process';

const COMMANDS = ['sessions', 'time', 'week', 'work ready', 'sense today', 'status'];

export default class Demo extends BaseCommand {
  static override summary = 'Try steward with invented data';
  static override description =
    'Invents two weeks of a developer in a temporary folder and serves the pages until Ctrl-C, which removes the folder. After --, runs that command on the same data. Does not read or change your own data, and does not use the network.';
  static override strict = false;
  static override flags = {
    keep: text({ description: 'Keep the data in this folder, and use it next time.', helpValue: 'DIR' }),
  };
  static override examples = ['demo', 'demo -- sessions', 'demo --keep ~/steward-demo -- week'];
  static override related = ['up', 'sessions', 'time', 'week'];

  async run(): Promise<undefined> {
    const { flags, argv } = await this.parse(Demo);
    const words = argv.map(String);
    const keep = flags.keep === undefined ? undefined : resolve(flags.keep);
    const code = await withDemo(this.context, { keep, join: words.length > 0 }, (folder, context) => {
      this.say(`demo: invented data in ${folder}`);
      if (words.length > 0) return runChild(this.json ? [...words, '--json'] : words);
      return serveDaemon(
        context,
        { port: 0 },
        {
          isJson: this.json,
          say: this.say,
          onListening: ({ url, pid }) => {
            this.printLine({ url, pid, folder });
            this.print(() => this.invitation(url, flags.keep));
          },
        },
      );
    });
    process.exitCode = code;
  }

  private invitation(url: string, keep: string | undefined): string {
    const demo = keep === undefined ? 'steward demo' : `steward demo --keep ${keep}`;
    const commands = COMMANDS.map((command) => `  ${demo} -- ${command}`);
    const end = keep === undefined ? 'Ctrl-C ends the demo and removes its data.' : 'Ctrl-C ends the demo.';
    return [`Demo pages: ${url}/`, 'In another terminal:', ...commands, end].join('\n');
  }
}
