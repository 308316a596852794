import { expect } from 'chai';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';

import { StewardError } from '../../../src/lib/errors';
import { artifactOf, readArtifact, slugOfArtifact, writeIssue } from '../../../src/lib/sessions/artifact';
import { scratch } from '../../helpers/scratch';

const LINK = { github_issue: 42, github_issue_url: 'https://example.org/o/r/issues/42' };

describe('session artifacts', () => {
  const folder = scratch();
  const file = (content: string | Buffer): string => {
    const path = folder.path('ISA.md');
    writeFileSync(path, content);
    return path;
  };

  it('are read from their front matter', () => {
    const path = file(
      `---\nslug: x\nsession: an-id\ntask: "Fix: the \\"login\\""\nproject: 'Ann''s site'\nmode: algorithm\neffort: E3 # deep\nphase: CLIMBING\ngithub_issue: 7\n---\ntask: not this\n`,
    );
    expect(readArtifact(path)).to.deep.equal({
      session: 'an-id',
      slug: 'x',
      task: 'Fix: the "login"',
      project: "Ann's site",
      mode: 'algorithm',
      effort: 'E3',
      phase: 'execute',
      progress: null,
      github_issue: 7,
      github_issue_url: null,
    });
  });

  it('say nothing where there is nothing to read', () => {
    expect(readArtifact(folder.path('none'))).to.equal(undefined);
    for (const text of ['', '# a title', '---\nphase: build\n', `x\n---\nphase: build\n---\n`])
      expect(readArtifact(file(text)), JSON.stringify(text)).to.equal(undefined);
    expect(readArtifact(file('---\nphase: nonsense\ntask: |\ngithub_issue: -1\n---\n'))).to.include({
      phase: null,
      task: null,
      github_issue: null,
    });
  });

  it('are cleaned of what a terminal would obey', () => {
    expect(readArtifact(file('---\ntask: "a\\u001b]0;x\\u0007b"\n---\n'))?.task).to.equal('ab');
  });

  it('are told by their path', () => {
    expect(slugOfArtifact('/s', '/s/one/ISA.md')).to.equal('one');
    expect(slugOfArtifact('/s', '/s/x/../one/ISA.md')).to.equal('one');
    for (const path of [
      '/s/ISA.md',
      '/s/one/two/ISA.md',
      '/s/one/isa.md',
      '/s/../ISA.md',
      '/t/one/ISA.md',
      '/s/ONE/ISA.md',
      '/s/con/ISA.md',
      '/s/a\0/ISA.md',
    ])
      expect(slugOfArtifact('/s', path), JSON.stringify(path)).to.equal(undefined);
  });

  it('are told by their path, however it is spelled', function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(folder.path('sessions', 'one'), { recursive: true });
    symlinkSync('sessions', folder.path('linked'));
    const sessions = folder.path('sessions');
    expect(slugOfArtifact(sessions, folder.path('linked', 'one', 'ISA.md'))).to.equal('one');
    expect(slugOfArtifact(folder.path('linked'), folder.path('sessions', 'one', 'ISA.md'))).to.equal('one');
    expect(slugOfArtifact(sessions, folder.path('elsewhere', 'one', 'ISA.md'))).to.equal(undefined);
  });

  it('are not looked for behind a link in place of their folder', function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(folder.path('sessions'));
    mkdirSync(folder.path('private'));
    writeFileSync(folder.path('private', 'ISA.md'), '---\ntask: SECRET\n---\n');
    symlinkSync('../private', folder.path('sessions', 'one'));
    expect(artifactOf(folder.path('sessions'), 'one')).to.equal(undefined);
    expect(artifactOf(folder.path('sessions'), 'none')).to.equal(undefined);
    expect(slugOfArtifact(folder.path('sessions'), folder.path('sessions', 'one', 'ISA.md'))).to.equal(
      undefined,
    );
    mkdirSync(folder.path('sessions', 'linked-file'));
    symlinkSync('../../private/ISA.md', folder.path('sessions', 'linked-file', 'ISA.md'));
    expect(artifactOf(folder.path('sessions'), 'linked-file')).to.equal(undefined);
    mkdirSync(folder.path('sessions', 'folder', 'ISA.md'), { recursive: true });
    expect(artifactOf(folder.path('sessions'), 'folder')).to.equal(undefined);
    mkdirSync(folder.path('sessions', 'two'));
    writeFileSync(folder.path('sessions', 'two', 'ISA.md'), '---\ntask: Mine\n---\n');
    expect(artifactOf(folder.path('sessions'), 'two')).to.include({ task: 'Mine' });
  });

  describe('get their issue', () => {
    const cases: [name: string, before: string, after: string][] = [
      [
        'as new keys before the end',
        '---\nslug: x\n---\nbody\n',
        '---\nslug: x\ngithub_issue: 42\ngithub_issue_url: https://example.org/o/r/issues/42\n---\nbody\n',
      ],
      [
        'in the place of the old, comments kept',
        '---\ngithub_issue: null # not yet\nslug: x\ngithub_issue_url: "https://old.example/#1"\n---\ngithub_issue: 1\n',
        '---\ngithub_issue: 42 # not yet\nslug: x\ngithub_issue_url: https://example.org/o/r/issues/42\n---\ngithub_issue: 1\n',
      ],
      [
        'with the line ends and the mark of the file, and no end of line at its end',
        '\ufeff---\r\nslug: "ä"\r\ngithub_issue:\r\n---\r\nbody',
        '\ufeff---\r\nslug: "ä"\r\ngithub_issue: 42\r\ngithub_issue_url: https://example.org/o/r/issues/42\r\n---\r\nbody',
      ],
      [
        'with a body that looks like keys, $& and all',
        '---\n---\n$& ---\ngithub_issue: 9\n---\n',
        '---\ngithub_issue: 42\ngithub_issue_url: https://example.org/o/r/issues/42\n---\n$& ---\ngithub_issue: 9\n---\n',
      ],
    ];
    for (const [name, before, after] of cases) {
      it(name, () => {
        const path = file(before);
        writeIssue(path, LINK);
        expect(readFileSync(path, 'utf8')).to.equal(after);
        writeIssue(path, LINK);
        expect(readFileSync(path, 'utf8')).to.equal(after);
        expect(readArtifact(path)).to.include(LINK);
      });
    }

    it('only where there is front matter in UTF-8, and no link', () => {
      const refused = (path: string, kind: string): void => {
        expect(() => writeIssue(path, LINK))
          .to.throw(StewardError)
          .with.property('kind', kind);
      };
      refused(folder.path('none'), 'not_found');
      const bytes = Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0x0a, 0x2d, 0x2d, 0x2d, 0x0a]);
      refused(file(bytes), 'conflict');
      expect(readFileSync(folder.path('ISA.md')).equals(bytes)).to.equal(true);
      refused(file('no front matter'), 'conflict');
      mkdirSync(folder.path('linked'));
      symlinkSync(file('---\n---\n'), folder.path('linked', 'ISA.md'));
      refused(folder.path('linked', 'ISA.md'), 'config');
    });

    it('only of an address that YAML reads as a text', () => {
      const path = file('---\n---\n');
      for (const url of ['javascript:x', 'https://x y', 'https://x\nphase: complete', 'https://x #y'])
        expect(() => writeIssue(path, { ...LINK, github_issue_url: url })).to.throw(StewardError);
    });
  });
});
