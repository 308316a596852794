import { expect } from 'chai';

import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { snapshot } from '../helpers/scratch';

describe('installing jobs without a scheduler', function () {
  this.timeout(180_000);
  // No program of a scheduler is found here.
  const env = { PATH: '/nowhere' };
  const installers = [
    ['sense', 'install'],
    ['sense', 'install', '--insight'],
    ['work', 'install'],
    ['daemon', 'install'],
  ];

  it('exits 8 with a clear error, and writes nothing (slow)', async function () {
    if (process.platform !== 'linux') this.skip();
    const home = emptyHome();
    try {
      for (const words of installers) {
        const { code, stdout, stderr } = await steward(words, { home: home.path, env });
        expect({ code, stdout }, words.join(' ')).to.deep.equal({ code: 8, stdout: '' });
        expect(stderr)
          .to.match(/No scheduler on this machine/)
          .and.match(/steward up/);
        const status = await steward([...words, '--status', '--json'], { home: home.path, env });
        expect(jsonOf(status)).to.include({ installed: false, loaded: false, lastRun: null, missedPolls: 0 });
        if (words.includes('--insight')) continue;
        const gone = await steward([...words, '--uninstall'], { home: home.path, env });
        expect(gone).to.include({ code: 0, stdout: 'Nothing is installed.\n' });
      }
      expect(
        Object.keys(snapshot(home.path, ['.cache'])).filter((path) => path.startsWith('.steward')),
      ).to.deep.equal([]);
    } finally {
      home.remove();
    }
  }).timeout(120_000);

  it('refuses two modes at once, and an unknown scheduler', async () => {
    for (const modes of [
      ['--status', '--uninstall'],
      ['--status', '--scheduler', 'cron'],
      ['--uninstall', '--scheduler', 'cron'],
    ]) {
      const both = await steward(['sense', 'install', ...modes]);
      expect(both.code, modes.join(' ')).to.equal(2);
    }
    const none = await steward(['work', 'install', '--scheduler', 'anacron', '--json']);
    expect(none.code).to.equal(2);
    expect(none.stdout + none.stderr).to.match(/launchd/);
  });
});
