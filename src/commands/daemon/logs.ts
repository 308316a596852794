import { BaseCommand, boolean, limit } from '../../lib/cli/base-command';
import { localTimes } from '../../lib/platform/time/day-words';
import { type LogLine, followLog, lastLines } from '../../lib/daemon/log';
import { logLineText } from '../../lib/daemon/status';

export default class DaemonLogs extends BaseCommand {
  static override summary = 'Show the last lines of the daemon log';
  static override flags = {
    limit: limit('Number of lines.', 50),
    follow: boolean({
      char: 'f',
      description: 'Print new lines as they arrive.',
    }),
  };
  static override examples = ['daemon logs', 'daemon logs --limit 5 --follow'];
  static override related = ['daemon status', 'sense status'];

  async run(): Promise<LogLine[] | undefined> {
    const { flags } = await this.parse(DaemonLogs);
    const path = this.context.area.daemonLog;
    const localTime = localTimes(this.context.clock);
    const show = (line: LogLine): string => logLineText(line, { ...this.terminal, localTime });
    const lines = lastLines(path, flags.limit);
    if (lines.length === 0) this.say(`The log ${path} is empty.`);
    else if (!this.json || !flags.follow) this.print(() => lines.map(show).join('\n'));
    if (!flags.follow) return lines;
    for (const line of this.json ? lines : []) this.printLine(line);
    await followLog(path, (line) => {
      this.print(() => show(line));
      this.printLine(line);
    });
    return undefined;
  }
}
