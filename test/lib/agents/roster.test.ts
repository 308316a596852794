import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';

import { readRoster, rosterEntry, newRosterAgent } from '../../../src/lib/agents/roster';
import { route, TYPES } from '../../helpers/agents';
import { rejection, thrown } from '../../helpers/errors';
import { scratch } from '../../helpers/scratch';

describe('roster', () => {
  const { path } = scratch();
  const folder = (): string => path('agents');

  function write(name: string, text: string | Buffer): void {
    mkdirSync(path('agents'), { recursive: true });
    writeFileSync(path('agents', name), text);
  }

  async function errorOf(name: string, text: string | Buffer): Promise<string> {
    write(name, text);
    const { agents, problems } = await readRoster(folder());
    expect(agents, name).to.deep.equal([]);
    return problems.map(({ message }) => message).join(' ');
  }

  it('is empty without a folder', async () => {
    expect(await readRoster(folder())).to.deep.equal({ agents: [], entries: [], problems: [] });
  });

  it('reads personas', async () => {
    write('ada.md', '---\nname: Ada\nrole: security specialist\nmodel: deep\nexpertise: [security, legal]\npersonality: skeptical\n---\n\nHas seen a lot.\n'); // prettier-ignore
    write('bo.md', '\ufeff---\r\nrole: "primary researcher"\r\napproach:\r\n  - thorough\r\n---\r\nBody');
    const { agents, problems } = await readRoster(folder());
    expect(problems).to.deep.equal([]);
    expect(agents.map(({ slug, name, role }) => [slug, name, role])).to.deep.equal([
      ['ada', 'Ada', 'security specialist'],
      ['bo', 'bo', 'primary researcher'],
    ]);
    expect(agents[0]).to.deep.include({ model: 'deep', expertise: ['security', 'legal'], personality: ['skeptical'] });
    expect(agents[1]).to.deep.include({ approach: ['thorough'] });
    expect((await rosterEntry(folder(), 'ADA')).persona).to.equal('Has seen a lot.');
  }); // prettier-ignore

  it('never reads a voice, and reports it as a note', async () => {
    write(
      'ada.md',
      '---\nname: Ada\nrole: x\nvoice: SECRET-ONE\nvoice_id: SECRET-TWO\nvoiceId: [SECRET-THREE]\n---\n',
    );
    const { agents, entries, problems } = await readRoster(folder());
    expect(agents).to.have.length(1);
    expect(problems.map(({ level, message }) => [level, message])).to.deep.equal([
      ['note', 'voice is ignored.'],
      ['note', 'voice_id is ignored.'],
      ['note', 'voiceId is ignored.'],
    ]);
    expect(JSON.stringify([agents, entries, problems])).not.to.include('SECRET');
  });

  it('reports what is wrong with a file', async () => {
    expect(await errorOf('a.md', 'no front matter')).to.match(/no front matter/);
    expect(await errorOf('a.md', '---\nname: x\n')).to.match(/no front matter/);
    expect(await errorOf('a.md', '---\nname: "x\nrole: y\n---\n')).to.match(/Line \d+, column \d+/);
    expect(await errorOf('a.md', '---\nname: a\nname: b\n---\n')).to.match(/Line 3, column 1: duplicate key/);
    expect(await errorOf('a.md', '---\n- a\n---\n')).to.match(/no keys/);
    expect(await errorOf('a.md', '---\nname: [x]\n---\n')).to.match(/name must be text/);
    expect(await errorOf('a.md', '---\nrole: x\nmodel: huge\n---\n')).to.match(/Invalid model "huge"; use fast, balanced, deep/);
    expect(await errorOf('a.md', '---\nexpertise: [magic]\n---\n')).to.match(/Invalid expertise "magic"; use security/);
    expect(await errorOf('a.md', '---\nexpertise: {a: 1}\n---\n')).to.match(/must be a list/);
    expect(await errorOf('a.md', Buffer.from([0x89, 0x50, 0, 1]))).to.match(/binary/);
    expect(await errorOf('a.md', 'x'.repeat(300_000))).to.match(/larger than 256 KiB/);
  }); // prettier-ignore

  it('refuses invalid file names, links and hidden files', async () => {
    write('Ada Lovelace.md', '---\nname: A\n---\n');
    write('.hidden.md', '---\nname: A\n---\n');
    writeFileSync(path('outside.md'), '---\nname: Outside\n---\n');
    symlinkSync(path('outside.md'), path('agents', 'link.md'));
    const { agents, problems } = await readRoster(folder());
    expect(agents).to.deep.equal([]);
    expect(problems.map(({ message }) => message)).to.deep.equal([
      'Invalid file name.',
      'The file is a symbolic link.',
    ]);
  });

  it('refuses a folder that is a link', async () => {
    mkdirSync(path('elsewhere'));
    symlinkSync(path('elsewhere'), path('agents'));
    expect(await rejection(readRoster(folder()))).to.include({ kind: 'config' });
  });

  it('uses valid files beside invalid ones, and reports a duplicate name', async () => {
    write('a.md', '---\nname: Ada\n---\n');
    write('b.md', '---\nname: ADA\n---\n');
    write('c.md', 'broken');
    const { agents, problems } = await readRoster(folder());
    expect(agents.map(({ slug }) => slug)).to.deep.equal(['a', 'b']);
    expect(problems.map(({ message }) => message)).to.deep.equal([
      'The file has no front matter.',
      'a.md already uses the name Ada.',
    ]);
  });

  it('lists the known agents if one is not found', async () => {
    write('ada.md', '---\nname: Ada\n---\n');
    write('bo.md', 'broken');
    expect(await rejection(rosterEntry(folder(), '../ada'))).to.include({
      kind: 'not_found',
      hint: 'Use one of ada.',
    });
    expect(await rejection(rosterEntry(folder(), 'bo'))).to.include({ kind: 'config' });
  });

  it('creates an agent whose brief has the expertise of its role and no template text', async () => {
    const made = { slug: 'ada', role: 'security specialist', expertise: [], personality: [], approach: [] };
    newRosterAgent(path('agents'), made);
    write('bo.md', `---\nname: Bo\nrole: engineer\n---\n\nBo is an engineer.\n`);
    const { entries } = await readRoster(folder());
    const { briefs = [] } = route('Let Ada and Bo look at the pricing page', {
      types: TYPES,
      named: entries,
    });
    expect(briefs.map(({ expertise }) => expertise)).to.deep.equal(['security', 'technical']);
    expect(briefs[0]?.prompt).to.match(
      /^You are Ada\.\nAda is a security specialist\.\nYou are a security specialist, /,
    );
    expect(briefs[1]?.prompt).to.match(/^You are Bo\.\nBo is an engineer\.\nYou are an engineer, /);
    for (const { prompt } of briefs) expect(prompt).not.to.match(/Write here|<!--/);
  });

  it('creates a readable file, and never overwrites one', async () => {
    const made = { slug: 'ada', role: 'tester: "of" things', name: "O'Brien #1", expertise: ['data'], personality: [], approach: ['rapid'], model: 'fast' } as const; // prettier-ignore
    newRosterAgent(path('agents'), made);
    const [agent] = (await readRoster(folder())).agents;
    expect(agent).to.deep.include({ slug: 'ada', name: "O'Brien #1", role: 'tester: "of" things', model: 'fast' });
    const before = readFileSync(path('agents', 'ada.md'), 'utf8');
    expect(thrown(() => newRosterAgent(path('agents'), made))).to.include({ kind: 'conflict' });
    expect(readFileSync(path('agents', 'ada.md'), 'utf8')).to.equal(before);
    for (const slug of ['../x', 'A', 'con', '', 'a b', 'x'.repeat(200)]) {
      expect(thrown(() => newRosterAgent(path('agents'), { ...made, slug })), slug).to.include({ kind: 'usage' });
    }
    expect(thrown(() => newRosterAgent(path('agents'), { ...made, slug: 'b', role: ' ' }))).to.include({ kind: 'usage' });
  }); // prettier-ignore
});
