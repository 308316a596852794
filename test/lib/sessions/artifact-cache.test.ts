import { expect } from 'chai';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'; // prettier-ignore

import { lookOf } from '../../../src/lib/platform/files/stat';
import type { Artifact } from '../../../src/lib/sessions/artifact';
import { artifactCache, type ArtifactCache } from '../../../src/lib/sessions/artifact-cache';
import { scratch } from '../../helpers/scratch';

describe('artifacts that were read before', () => {
  const folder = scratch();
  /** As if the files had been written an hour ago. */
  const LATER_MS = 3_600_000;

  const file = (slug: string): string => folder.path('sessions', slug, 'ISA.md');
  const write = (slug: string, task: string): void => {
    mkdirSync(folder.path('sessions', slug), { recursive: true });
    writeFileSync(file(slug), `---\ntask: ${task}\nphase: execute\n---\n`);
  };
  const open = (version = '1'): ArtifactCache =>
    artifactCache({ path: folder.path('state', 'artifacts.json'), sessions: folder.path('sessions'), version }); // prettier-ignore
  const look = (cache: ArtifactCache, slug: string, laterMs = LATER_MS): Artifact | undefined =>
    cache.artifact(slug, lookOf(file(slug), Date.now() + laterMs)!);
  /** One run of a sweep. */
  const tasks = (slugs: string[], laterMs = LATER_MS, version = '1'): (string | null | undefined)[] => {
    const cache = open(version);
    const found = slugs.map((slug) => look(cache, slug, laterMs)?.task);
    cache.keep(new Set(slugs));
    return found;
  };
  /** Changes what the cache says, so that one sees where an answer comes from. */
  const forge = (from: string, to: string): void => {
    const path = folder.path('state', 'artifacts.json');
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to));
  };

  it('are not read again while their files stay as they were', () => {
    write('one', 'First');
    write('two', 'Second');
    expect(tasks(['one', 'two'])).to.deep.equal(['First', 'Second']);
    forge('First', 'Kept');
    expect(tasks(['one', 'two'])).to.deep.equal(['Kept', 'Second']);
    // A session that is not there any more is forgotten.
    tasks(['two']);
    expect(readFileSync(folder.path('state', 'artifacts.json'), 'utf8')).to.not.include('Kept');
  });

  it('are read again after a change of the same size whose date was set back, and after a file in its place', () => {
    write('one', 'First');
    tasks(['one']);
    const { atime, mtime } = statSync(file('one'));
    writeFileSync(file('one'), readFileSync(file('one'), 'utf8').replace('First', 'Fifth'));
    utimesSync(file('one'), atime, mtime);
    expect(tasks(['one'])).to.deep.equal(['Fifth']);
    writeFileSync(folder.path('other'), readFileSync(file('one'), 'utf8').replace('Fifth', 'Sixth'));
    utimesSync(folder.path('other'), atime, mtime);
    renameSync(folder.path('other'), file('one'));
    expect(tasks(['one'])).to.deep.equal(['Sixth']);
  });

  it('are not kept when they were written a moment ago: the next change may show the same time', () => {
    write('one', 'First');
    expect(tasks(['one'], 0)).to.deep.equal(['First']);
    expect(() => readFileSync(folder.path('state', 'artifacts.json'))).to.throw('ENOENT');
    expect(tasks(['one'])).to.deep.equal(['First']);
    forge('First', 'Kept');
    expect(tasks(['one'], 0)).to.deep.equal(['Kept']);
  });

  it('are read again by another version, and where the cache is broken, a link, or another folder’s', () => {
    write('one', 'First');
    const path = folder.path('state', 'artifacts.json');
    tasks(['one']);
    forge('First', 'Kept');
    expect(tasks(['one'], LATER_MS, '2')).to.deep.equal(['First']);
    const good = readFileSync(path, 'utf8');
    const broken = [
      '',
      good.slice(0, -9),
      '[]',
      'null',
      good.replace('"algorithm"', '"x"'),
      good.replace('"First"', '7'),
      good.replace('"github_issue":null', '"github_issue":"12"'),
      good.replace(/"artifact":\{/, '"artifact":null,"x":{'),
      good.replace('sessions', 'elsewhere'),
    ];
    for (const text of broken) {
      writeFileSync(path, text.replace('First', 'Kept'));
      expect(tasks(['one'], LATER_MS, '2'), text).to.deep.equal(['First']);
    }
    renameSync(path, folder.path('real'));
    symlinkSync(folder.path('real'), path);
    forge('First', 'Kept');
    expect(tasks(['one'], LATER_MS, '2')).to.deep.equal(['First']);
  });

  it('come also where the cache cannot be written', function () {
    if (process.getuid?.() === 0) {
      // Nothing is closed to the administrator: a file where the folder would be says the same.
      writeFileSync(folder.path('state'), '');
    } else {
      mkdirSync(folder.path('state'));
      chmodSync(folder.path('state'), 0o500);
    }
    write('one', 'First');
    expect(tasks(['one'])).to.deep.equal(['First']);
    expect(tasks(['one'])).to.deep.equal(['First']);
  });
});
