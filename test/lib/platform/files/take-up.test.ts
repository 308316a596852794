import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';

import { expect } from 'chai';

import { takeUp } from '../../../../src/lib/platform/files/take-up';
import { scratch } from '../../../helpers/scratch';

describe('entries of another machine', () => {
  const dir = scratch();
  const [from, into] = [(): string => dir.path('from'), (): string => dir.path('into')];
  const put = (folder: string, name: string, machine: string): void => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/${name}`, JSON.stringify({ version: 1, machine, id: name }));
  };
  const machinesIn = (folder: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .map((name) => [
          name,
          (JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as { machine: string }).machine,
        ]),
    );
  const take = (): void => takeUp({ path: from() }, { path: into() }, { ids: ['old'], to: 'new' });

  it('move, waiting and claimed, and belong to this machine; those of others stay', () => {
    put(from(), '1.json', 'old');
    put(from(), '2.json', 'third');
    put(`${from()}/claimed`, '3.json', 'old');
    take();
    expect(machinesIn(into())).to.deep.equal({ '1.json': 'new' });
    expect(machinesIn(`${into()}/claimed`)).to.deep.equal({ '3.json': 'new' });
    expect(machinesIn(from())).to.deep.equal({ '2.json': 'third' });
    take();
    expect(machinesIn(from())).to.deep.equal({ '2.json': 'third' });
  });

  it('are taken once after a crash between the move and the change', () => {
    put(from(), '1.json', 'old');
    mkdirSync(into());
    renameSync(`${from()}/1.json`, `${into()}/1.json`);
    take();
    expect(machinesIn(into())).to.deep.equal({ '1.json': 'new' });
  });

  it('change their machine in place', () => {
    put(from(), '1.json', 'old');
    takeUp({ path: from() }, { path: from() }, { ids: ['old'], to: 'new' });
    expect(machinesIn(from())).to.deep.equal({ '1.json': 'new' });
  });

  it('are damaged files for nobody, and a missing spool has none', () => {
    mkdirSync(from());
    writeFileSync(`${from()}/1.json`, '{"machine":"old"');
    take();
    expect(readdirSync(from())).to.deep.equal(['1.json']);
    takeUp({ path: dir.path('none') }, { path: into() }, { ids: ['old'], to: 'new' });
    expect(readdirSync(dir.path())).to.deep.equal(['from']);
  });
});
