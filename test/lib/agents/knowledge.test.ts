import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';

import { searchKnowledge, showKnowledge, type KnowledgeQuery } from '../../../src/lib/agents/knowledge';
import type { StewardError } from '../../../src/lib/errors';
import { scratch } from '../../helpers/scratch';
import { thrown } from '../../helpers/errors';
import { long } from '../../helpers/long';

describe('knowledge', () => {
  const { path } = scratch();

  function write(id: string, text: string | Buffer): void {
    const [type = ''] = id.split('/');
    mkdirSync(path('knowledge', type), { recursive: true });
    writeFileSync(path('knowledge', `${id}.md`), text);
  }

  function search(text: string, more: Partial<KnowledgeQuery> = {}) {
    return searchKnowledge(path('knowledge'), { text, limit: 20, ...more });
  }

  function ids(text: string, more: Partial<KnowledgeQuery> = {}): string[] {
    return search(text, more).results.map(({ id }) => id);
  }

  function fill(): void {
    write(
      'people/ada',
      '---\ntitle: Ada Lovelace\ntags: [mathematics, "computing"]\n---\n\nWrote the first program.\n',
    );
    write('people/zoe', '# Zoë Müller\n\nKnows Ada from the Café.');
    write(
      'companies/acme',
      '---\nname: Acme\ntopics:\n  - batteries # new\n  - recycling\n---\nMakes anvils.',
    );
    write('ideas/first-principles', 'Start from what is known.\nThe first program was on paper.');
    write('research/tea', '---\ntags: computing, tea\n---\nLeaves.');
    write('notes/other', 'Ada is here too.');
  }

  it('requires all words, ignores case and accents, and ranks titles and tags first', () => {
    fill();
    expect(ids('ada')).to.deep.equal(['people/ada', 'people/zoe']);
    expect(ids('FIRST program')).to.deep.equal(['ideas/first-principles', 'people/ada']);
    expect(ids('cafe muller')).to.deep.equal(['people/zoe']);
    expect(ids('ada anvils')).to.deep.equal([]);
    expect(ids('')).to.have.length(5);
    expect(search('paper').results[0]?.excerpt).to.equal('The first program was on paper.');
  });

  it('filters by topic and type', () => {
    fill();
    expect(ids('', { tag: 'Computing' })).to.deep.equal(['people/ada', 'research/tea']);
    expect(ids('', { tag: 'computing', type: 'research' })).to.deep.equal(['research/tea']);
    expect(ids('', { tag: 'recycling' })).to.deep.equal(['companies/acme']);
    expect(ids('', { tag: 'comput' })).to.deep.equal([]);
  });

  it('shows an entry by id, name or prefix', () => {
    fill();
    const entry = showKnowledge(path('knowledge'), 'people/ada');
    expect(entry).to.deep.include({ title: 'Ada Lovelace', tags: ['mathematics', 'computing'], body: 'Wrote the first program.' });
    expect(showKnowledge(path('knowledge'), 'ACME.md').id).to.equal('companies/acme');
    expect(showKnowledge(path('knowledge'), 'first').id).to.equal('ideas/first-principles');
    write('ideas/ada', 'x');
    expect(thrown(() => showKnowledge(path('knowledge'), 'ada'))).to.include({ kind: 'usage' });
    for (const wanted of ['nobody', '', '../people/ada', 'people/../people/ada', '/etc/passwd', 'people/', 'notes/other']) {
      expect(thrown(() => showKnowledge(path('knowledge'), wanted)), wanted).to.include({ kind: 'not_found' });
    }
  }); // prettier-ignore

  it('skips links, binary files and folders, and lists them', () => {
    fill();
    writeFileSync(path('outside.md'), 'secret');
    symlinkSync(path('outside.md'), path('knowledge', 'people', 'link.md'));
    symlinkSync(path(), path('knowledge', 'people', 'folder-link.md'));
    write('people/image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]));
    write('people/latin', Buffer.from('caf\xe9 is not UTF-8 here', 'latin1'));
    mkdirSync(path('knowledge', 'people', 'folder.md'));
    expect(ids('secret')).to.deep.equal([]);
    const { skipped } = search('');
    expect(skipped.count).to.equal(5);
    expect(skipped.files.map(({ reason }) => reason)).to.include.members(['is a symbolic link', 'is not UTF-8 text']); // prettier-ignore
    expect(thrown(() => showKnowledge(path('knowledge'), 'people/link'))).to.include({ kind: 'config' });
  });

  it('follows no link to a folder', () => {
    mkdirSync(path('elsewhere'));
    writeFileSync(path('elsewhere', 'x.md'), 'secret');
    mkdirSync(path('knowledge'));
    symlinkSync(path('elsewhere'), path('knowledge', 'people'));
    expect(search('secret')).to.deep.include({ results: [], scanned: 0 });
    expect(search('').skipped.files[0]?.reason).to.equal('is a symbolic link');
  });

  long('is bounded, and writes nothing', () => {
    mkdirSync(path('knowledge', 'ideas'), { recursive: true });
    for (let n = 0; n < 2000; n += 1) {
      writeFileSync(
        path('knowledge', 'ideas', `idea-${n}.md`),
        `---\ntags: [t${n % 7}]\n---\nIdea ${n} about tea.\n`,
      );
    }
    const before = statSync(path('knowledge', 'ideas')).mtimeMs;
    const found = search('tea', { tag: 't3', limit: 5 });
    expect(found.results).to.have.length(5);
    expect(found).to.include({ scanned: 2000, total: 286 });
    expect(readdirSync(path('knowledge', 'ideas'))).to.have.length(2000);
    expect(statSync(path('knowledge', 'ideas')).mtimeMs).to.equal(before);
    write('ideas/huge', `${'x'.repeat(5_000_000)} needle`);
    expect(ids('needle')).to.deep.equal([]);
    const huge = thrown(() => showKnowledge(path('knowledge'), 'ideas/huge')) as StewardError;
    expect(huge.kind).to.equal('config');
    expect(`${huge.message} ${huge.hint}`).to.match(/huge\.md is too large \(5 MiB\)\. Split the file/);
  }).timeout(60_000);
});
