import { useGit } from '../../lib/setup/sync/change';
import { useHost, useSyncthing } from '../../lib/setup/sync/engine';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { StewardError } from '../../lib/errors';
import { isRepository } from '../../lib/config/leaf';
import { gitAddress } from '../../lib/platform/net/git-address';
import { plural } from '../../lib/platform/terminal/format';
import { remainsText } from '../../lib/sync/checks';

export default class SyncConnect extends BaseCommand {
  static override summary =
    'Sync the exchange folder with Syncthing or git, or show the sessions of an ssh host';
  static override description =
    'Run it on each machine. With syncthing, shares the folder of `sync setup` with all configured devices. With git, syncs through a private repository, now and every 30 minutes, and makes ~/steward-exchange if no folder is set; GitHub takes your login of `gh`, others your ssh keys and git credentials. With ssh, `sessions` and the inbox also ask that host; without a host, none.';
  static override args = {
    engine: word({
      required: true,
      options: ['syncthing', 'git', 'ssh'],
      description: 'Sync tool (syncthing or git), or ssh.',
    }),
    repo: word({
      description:
        'For git an empty private repository: OWNER/REPO on GitHub, or an ssh, https or file address. For ssh a host.',
    }),
  };
  static override examples = [
    'sync connect syncthing',
    'sync connect git ann/steward-exchange',
    'sync connect ssh ann@server',
  ];
  static override related = ['sync setup FOLDER', 'sync status'];

  async run() {
    const { args } = await this.parse(SyncConnect);
    if (args.engine === 'git') return this.connectGit(args.repo);
    if (args.engine === 'ssh') {
      const hosts = await useHost(this.context, args.repo);
      return this.show(
        { engine: 'ssh', hosts },
        () => `Asks for sessions by ssh: ${hosts.join(', ') || 'no host'}.`,
      );
    }
    const { added, devices, folder, before } = await useSyncthing(this.context);
    if (before !== null) this.say(remainsText(before));
    const deviceNames = devices.length === 0 ? 'no other device yet' : devices.join(', ');
    return this.show(
      { engine: 'syncthing', devices },
      () => `Syncthing ${added ? 'now' : 'already'} shares ${folder} with ${deviceNames}.`,
    );
  }

  async connectGit(given: string | undefined) {
    const known = given !== undefined && isRepository(given) ? given : gitAddress(given ?? '')?.url;
    if (known === undefined) {
      const shown = given?.replace(/\/\/[^@/]*@/, '//…@');
      throw new StewardError(
        'usage',
        shown === undefined ? 'No repository given.' : `Invalid repository "${shown}".`,
        {
          hint: 'Use OWNER/REPO, such as ann/steward-exchange, or an address without a password: ann@nas:steward.git, https://HOST/PATH.git or /mnt/nas/steward.git.',
        },
      );
    }
    const { received, folder, before } = await useGit(this.context, known);
    if (before !== null) this.say(remainsText(before));
    return this.show(
      { engine: 'git', folder, received },
      () =>
        `Synced ${folder ?? ''} through ${known}. Received news of ${plural(received.length, 'other machine')}.`,
    );
  }
}
