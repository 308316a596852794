import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { addDays } from '../../src/lib/platform/time/time';
import { emptyHome, steward } from '../helpers/cli';
import { focus } from '../helpers/sense';

interface Status {
  settings: { machines: string[]; conflicts: { key: string; value: string[]; other: { value: string[] } }[] };
}

describe('settings of several machines (built)', function () {
  this.timeout(60_000);
  const homes = [emptyHome(), emptyHome(), emptyHome()] as const;
  const [laptop, server, shared] = homes;
  const folder = join(shared.path, 'steward');
  after(() => homes.forEach(({ remove }) => remove()));
  const run = async (home: { path: string }, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await steward(args, { home: home.path });
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const put = (home: { path: string }, name: string, text: string): void => {
    const path = join(home.path, '.steward', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  };
  const sharing = (): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('settings.json'),
    );
  const published = (): string =>
    sharing()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('');

  it('need a folder that exists, or consent to create it, and are offered one once', async () => {
    mkdirSync(join(laptop.path, 'Nextcloud'));
    await run(laptop, 'sense', 'init');
    expect(await run(laptop, 'status'))
      .to.include('sync setup')
      .and.include('Nextcloud/steward --create');
    expect(await run(laptop, 'status')).not.to.include('Nextcloud');
    const { code, stderr } = await steward(['sync', 'setup', `${folder}d`], { home: laptop.path });
    expect(code).to.equal(2);
    expect(stderr).to.include(`The folder ${folder}d does not exist.`).and.include('add --create');
    expect(existsSync(`${folder}d`)).to.equal(false);
  });

  it('are shared by the machines that chose it, without restricted work and secrets', async () => {
    const client = join(laptop.path, 'rosebud');
    mkdirSync(client);
    writeFileSync(join(client, 'RESTRICTED.md'), '');
    put(
      laptop,
      'goals/goals.md',
      '## Active Goals\n\n- **G1**: Ship\n  repos: shop\n- **G2**: For them\n  repos: rosebud\n',
    );
    put(
      laptop,
      'projects.md',
      `| Project | Path |\n|---|---|\n| **Shop** | \`~/shop\` |\n| **Client** | \`${client}\` |\n`,
    );
    put(laptop, 'principal/pronunciations.json', '{"nginx": "engine x"}');
    await run(laptop, 'sense', 'classify', 'set', 'Figma', 'consumption');
    await run(laptop, 'config', 'set', 'notifications.routing.error', '["desktop"]');
    await run(laptop, 'config', 'set', 'notifications.push.topic', 'a-secret-topic');
    for (const home of [laptop, server]) await run(home, 'sync', 'setup', '--create', folder);
    expect(sharing()).to.deep.equal([]);
    expect(await run(laptop, 'sync', 'settings')).to.match(/Shares no settings.*would share 5,/);
    await run(laptop, 'sync', 'settings', 'on');
    expect(published())
      .to.include('goal/G1')
      .and.not.match(/G2|rosebud|Client|a-secret-topic/);
    expect(await run(laptop, 'sync', 'setup', '--dry-run', '--show', 'settings.json')).to.equal(published());
    expect(await run(server, 'sync', 'status')).to.include('. To join: steward sync settings on');
    await run(server, 'sync', 'settings', 'on');
    expect(await run(server, 'goals'))
      .to.include('Ship')
      .and.not.include('For them');
    expect(await run(server, 'sense', 'classify', 'explain', 'Figma')).to.include(
      'is consumption because of rule 1',
    );
    expect(await run(server, 'config', 'get', 'notifications.routing.error')).to.include('desktop');
    expect(await run(server, 'notify', 'speak', '--dry-run', 'nginx')).to.include('engine x');
  });

  it('give the time by goal that every machine shows alike', async () => {
    const day = addDays(new Date().toISOString().slice(0, 10), -2);
    const minutesFrom = (home: { path: string }, hour: string): void => {
      const lines = Array.from({ length: 30 }, (_, minute) => {
        const ts = `${day}T${hour}:${String(minute + 10)}:00.000Z`;
        return JSON.stringify({ ...focus(ts, 'Code', 60), repo: 'shop' });
      });
      put(home, `sense/events/${day}.jsonl`, `${lines.join('\n')}\n`);
    };
    minutesFrom(laptop, '09');
    minutesFrom(server, '11');
    for (const home of [laptop, server]) await run(home, 'sense', 'capture');
    const byGoal = (home: { path: string }) => run(home, 'time', '--of', day, '--by', 'goal', '--json');
    const shown = await byGoal(laptop);
    const { rows } = JSON.parse(shown) as { rows: { key: string; minutes: number }[] };
    expect(rows.map(({ key, minutes }) => [key, minutes])).to.deep.equal([['G1', 60]]);
    expect(await byGoal(server)).to.equal(shown);
  });

  it('survive a damaged state of the exchange, which stops no command and is set again', async () => {
    const path = join(server.path, '.steward', 'state', 'sync.json');
    writeFileSync(path, '{');
    const { code, stdout, stderr } = await steward(['sense', 'capture'], { home: server.path });
    expect(code, stdout).to.equal(0);
    expect(stderr).to.include('nothing is exchanged').and.include('steward sync setup FOLDER');
    await run(server, 'sync', 'setup', folder);
    await run(server, 'sync', 'settings', 'on');
  });

  it('show both values if two machines changed one, and take the other', async () => {
    const goals = (home: { path: string }): string => join(home.path, '.steward', 'goals', 'goals.md');
    for (const [home, text] of [
      [laptop, 'Ship two'],
      [server, 'Ship three'],
    ] as const)
      writeFileSync(goals(home), readFileSync(goals(home), 'utf8').replace('Ship', text));
    utimesSync(goals(laptop), 1, 1);
    for (const home of [laptop, server, laptop]) await run(home, 'sync', 'now');
    const status = JSON.parse(await run(laptop, 'sync', 'status', '--json')) as Status;
    const [conflict] = status.settings.conflicts;
    expect(conflict).to.deep.include({ key: 'goal/G1' });
    expect(conflict?.value.join()).to.include('Ship three');
    expect(conflict?.other.value.join()).to.include('Ship two');
    expect(await run(server, 'sync', 'status')).to.include('steward sync settings take goal/G1');
    await run(server, 'sync', 'settings', 'take', 'goal/G1');
    await run(laptop, 'sync', 'now');
    expect(await run(laptop, 'goals')).to.include('Ship two');
    expect(await run(laptop, 'sync', 'status')).not.to.include('take goal/G1');
    await run(laptop, 'sync', 'settings', 'off');
    expect(sharing()).to.have.length(1);
    expect(await run(laptop, 'goals')).to.include('Ship two');
  });
});
