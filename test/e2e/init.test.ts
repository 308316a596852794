import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { findProgram } from '../../src/lib/platform/process/spawn';
import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { bareEnvironment } from '../helpers/git';
import { startGitHub } from '../helpers/github';
import { notifyServer, ntfyOk } from '../helpers/notify-server';
import { converse, type Turn } from '../helpers/on-terminal';
import { requireTerminal } from '../helpers/real-part';

/** No scheduler is found without programs: what a test schedules would be this machine's. */
const NO_PROGRAMS = { PATH: '/nonexistent', XDG_RUNTIME_DIR: undefined };

const ALL: readonly Turn[] = [
  ['Your name', 'Ann\r'],
  ["assistant's name", 'Ada\r'],
  ['May steward speak?', 'mute\r'],
  ['search for repositories', '~\r'],
  ['Repositories to watch', '\r'],
  ['Sources to capture', 'git agentSession\r'],
  ['OWNER/REPO', '\r'],
  ['Send push notifications', 'y\r'],
  ['Send a test', 'n\r'],
  ['Register hooks', 'n\r'],
  ['on another machine?', 'n\r'],
];

describe('steward init (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  const area = (...names: string[]): string => join(home.path, '.steward', ...names);
  const json = async (...args: string[]): Promise<Record<string, unknown>> => {
    const result = await steward([...args, '--json'], { home: home.path });
    expect(result.code, result.stderr).to.equal(0);
    return jsonOf(result) as Record<string, unknown>;
  };
  const value = async (key: string): Promise<unknown> => {
    const { values } = (await json('config', 'show', '--all')) as {
      values: { key: string; value: unknown }[];
    };
    return values.find((row) => row.key === key)?.value;
  };
  const repository = (...names: string[]): string => {
    const path = join(home.path, ...names);
    mkdirSync(path, { recursive: true });
    execFileSync('git', ['init', '-q'], { cwd: path, env: bareEnvironment(home.path) });
    return path;
  };
  /** A commit by Ann under another address than git has for her. */
  const commitAs = (cwd: string, email: string): void => {
    const git = (...args: string[]): unknown =>
      execFileSync('git', args, { cwd, env: bareEnvironment(home.path) });
    git('config', 'user.email', 'ann@example.org');
    git('config', 'user.name', 'Ann');
    git('-c', `user.email=${email}`, 'commit', '-q', '--allow-empty', '-m', 'x');
  };
  const talk = (turns: readonly Turn[], args: string[] = [], columns = 80) =>
    converse(['init', ...args], turns, { home: home.path, columns, env: NO_PROGRAMS });

  it('needs a terminal or --yes, and otherwise writes nothing', async () => {
    const result = await steward(['init'], { home: home.path });
    expect(result).to.include({ code: 2, stdout: '' });
    expect(result.stderr).to.include('steward init --yes');
    expect(existsSync(area())).to.equal(false);
  });

  it('reads answers from flags, keeps other values, and sends or schedules nothing unasked', async () => {
    const repo = repository('src', 'app');
    const flags = ['--name', '123', '--voice', 'off', '--repos-below', join(home.path, 'src')];
    const done = await json('init', '--yes', ...flags, '--sources', 'git');
    expect(done).to.deep.include({ done: true, userArea: area() });
    expect(done['set']).to.deep.include({ name: '123', voice: 'off', sources: 'git', push: 'no topic' });
    expect(await value('sense.repos')).to.deep.equal([repo]);
    expect(await value('principal.name')).to.equal('123');
    expect((await json('init', '--yes', '--voice', 'on'))['set']).to.include({ voice: 'on' });
    expect(existsSync(join(home.path, '.claude'))).to.equal(false);
    expect(readFileSync(area('config.yaml'), 'utf8')).to.include('# Your name, and your email addresses');
  });

  it('names a wrong flag before it writes anything', async () => {
    for (const [flags, said] of [
      [
        ['--sources', 'screen'],
        /Unknown --sources "screen"\.\s+Use all, none, or a list from appFocus, git, agentSession, web/,
      ],
      [['--jobs', 'sens'], /Unknown --jobs "sens"\.\s+Use all, none, or a list from daemon, tick/],
      [['--repo', '/nowhere'], /No git repository at \/nowhere/],
      [['--repos-below', '/nowhere'], /Folder \/nowhere not found/],
      [['--name', ''], /--name.*expected/],
      [['--voice', 'loud'], /Invalid --voice "loud"\. Use one of on, mute, off/],
    ] as const) {
      const result = await steward(['init', '--yes', '--da-name', 'Ada', ...flags], { home: home.path });
      expect([result.code, result.stdout], flags.join(' ')).to.deep.equal([2, '']);
      expect(result.stderr).to.match(said);
    }
    expect(existsSync(area())).to.equal(false);
  });

  it('generates a random topic once, and tests it only on request', async () => {
    const server = await notifyServer(ntfyOk);
    try {
      await json('config', 'set', 'notifications.push.server', server.url);
      const first = await steward(['init', '--yes', '--push'], { home: home.path });
      const topic = /steward-[0-9a-f]{32}/.exec(first.stderr)?.[0];
      expect(topic, first.stderr).to.be.a('string');
      expect(server.got).to.have.length(0);
      const elsewhere = await steward(['init', '--yes', '--push']);
      const other = /steward-[0-9a-f]{32}/.exec(elsewhere.stderr)?.[0];
      expect(other, elsewhere.stderr).to.be.a('string').and.not.equal(topic);
      const again = await steward(['init', '--yes', '--push', '--push-test'], { home: home.path });
      expect(again.stderr)
        .to.include(`${server.url}/${String(topic)}`)
        .and.include('Sent.');
      expect(server.got.map(({ body }) => body['topic'])).to.deep.equal([topic]);
    } finally {
      await server.close();
    }
  });

  it('sets up the given work repository, and exits with the code of its error', async () => {
    const github = await startGitHub({ repos: [{ name: 'work' }, { name: 'open', private: false }] });
    try {
      const env = { GITHUB_API_URL: github.url, GITHUB_TOKEN: github.token };
      const wrong = await steward(['init', '--yes', '--name', 'Ann', '--work-repo', 'ann/none'], {
        home: home.path,
        env,
      });
      expect(wrong.code).to.equal(5);
      expect(await value('principal.name')).to.equal('Ann');
      const right = await steward(['init', '--yes', '--work-repo', 'ann/work'], { home: home.path, env });
      expect(right.code, right.stderr).to.equal(0);
      expect(right.stderr).to.include('ann/work is private');
      expect(await value('WORK.repo')).to.equal('ann/work');
    } finally {
      await github.close();
    }
  });

  describe('on a terminal (slow)', () => {
    before(function () {
      requireTerminal(this);
    });

    it('asks the questions in order, and writes the answers', async () => {
      const repo = repository('app');
      const { text, code, missed } = await talk(ALL);
      expect({ code, missed }, text).to.deep.equal({ code: 0, missed: [] });
      expect(text)
        .to.match(/speaks aloud|no speech engine is installed/i)
        .and.include('mute');
      expect(text).to.match(/https:\/\/ntfy\.sh\/steward-[0-9a-f]{32}/);
      expect(text).to.include('No scheduler');
      expect(await value('da.name')).to.equal('Ada');
      expect(await value('sense.repos')).to.deep.equal([repo]);
      expect(await value('sense.sources.appFocus')).to.equal(false);
      expect(existsSync(area('state', 'mute.json'))).to.equal(true);
      expect(readFileSync(area('state', 'may-speak.json'), 'utf8')).to.include('"events":true');
      for (const line of text.split(/\r?\n/).filter((row) => !row.includes('\u001b') && !row.includes('/')))
        expect(line.length, line).to.be.at.most(80);
    });

    it('counts only the questions that follow, and sets up the folder in which machines meet', async () => {
      mkdirSync(join(home.path, 'Dropbox'));
      const preset = join(home.path, 'Dropbox', 'steward');
      const meeting: Turn[] = [
        ['on another machine?', 'y\r'],
        [`${preset}]`, '\r'],
        // The path before it may end anywhere on the line.
        ['it? [y/N]', 'y\r'],
      ];
      const turns = ALL.filter(([seen]) => seen !== 'Repositories to watch').slice(0, -1);
      const { text, missed } = await talk([['9 questions follow', ''], ...turns, ...meeting]);
      expect(missed, text).to.deep.equal([]);
      expect(existsSync(join(preset, 'machines')), text).to.equal(true);
      expect((await steward(['status'], { home: home.path })).stdout).not.to.include('can meet in');
    });

    for (const [name, key] of [
      ['Ctrl-C', '\x03'],
      ['the end of input', '\x04'],
    ] as const) {
      it(`keeps the answers when stopped at ${name}, and continues there`, async () => {
        const stopped = await talk([...ALL.slice(0, 2), ['May steward speak', key]]);
        expect(stopped.code, stopped.text).to.equal(130);
        expect(await value('da.name')).to.equal('Ada');
        const rest = await talk(ALL.slice(2).filter(([seen]) => seen !== 'Repositories to watch'));
        expect({ code: rest.code, missed: rest.missed }, rest.text).to.deep.equal({ code: 0, missed: [] });
        expect(rest.text).to.include('2 of 9 questions answered');
        expect(rest.text).to.not.include('Your name');
      });
    }

    it('asks once whether other addresses under your name are yours', async () => {
      commitAs(repository('src', 'app'), 'ann@home.example');
      const bin = join(home.path, 'bin');
      mkdirSync(bin);
      symlinkSync(findProgram('git') ?? '', join(bin, 'git'));
      const env = { ...NO_PROGRAMS, PATH: bin };
      const withGit = (turns: readonly Turn[]) => converse(['init'], turns, { home: home.path, env });
      const toRepos = ALL.slice(0, 5);
      const stopped = await withGit([...toRepos, ['by ann@home.example (1 commit). Are they yours', '\x03']]);
      expect(stopped.code, stopped.text).to.equal(130);
      expect(await value('sense.repos')).to.deep.equal([]);
      const no = await withGit([...ALL.slice(3, 5), ['Are they yours', 'n\r'], ...ALL.slice(5)]);
      expect({ code: no.code, missed: no.missed }, no.text).to.deep.equal({ code: 0, missed: [] });
      expect(await value('user.emails')).to.deep.equal([]);
      const search: Turn[] = [
        ['Setting to change', 'repos\r'],
        ['search for repositories', '\r'],
      ];
      const again = await withGit([...search, ['No new repositories', ''], ['Setting to change', '\r']]);
      expect({ code: again.code, missed: again.missed }, again.text).to.deep.equal({ code: 0, missed: [] });

      commitAs(repository('src', 'site'), 'ann@home.example');
      const yes = await withGit([
        ...search,
        ['Repositories to watch', '\r'],
        ['Are they yours', 'y\r'],
        ['Setting to change', '\r'],
      ]);
      expect({ code: yes.code, missed: yes.missed }, yes.text).to.deep.equal({ code: 0, missed: [] });
      expect(await value('user.emails')).to.deep.equal(['ann@home.example']);
    });

    it('writes nothing if stopped at the first question', async () => {
      const { code } = await talk([['Your name', '\x03']]);
      expect(code).to.equal(130);
      expect(existsSync(area())).to.equal(false);
    });

    it('shows current values on another run, changes only new answers, and keeps comments', async () => {
      await json('init', '--yes', '--name', 'Ann');
      writeFileSync(area('config.yaml'), '# mine\nversion: 1\nprincipal:\n  name: Ann # me\n');
      const { code, text, missed } = await talk([
        ['Setting to change', 'nmae\r'],
        ['Unknown setting "nmae"', ''],
        ['Setting to change', 'name\r'],
        ['Your name [Ann]', 'Bea\r'],
        ['name  Bea', ''],
        ['Setting to change', '\r'],
      ]);
      expect({ code, missed }, text).to.deep.equal({ code: 0, missed: [] });
      expect(readFileSync(area('config.yaml'), 'utf8')).to.equal(
        '# mine\nversion: 1\nprincipal:\n  name: Bea # me\n',
      );
    });

    it('explains valid answers, and wraps at word boundaries on a narrow terminal', async () => {
      for (const name of ['one', 'two']) repository('src', name);
      const turns = ALL.flatMap(([seen, typed]): Turn[] => {
        if (seen === 'Repositories to watch') {
          return [
            [seen, '9\r'],
            ['Enter numbers from 1 to 2', ''],
            [seen, '2\r'],
          ];
        }
        if (seen !== 'Send push notifications') return seen === 'Send a test' ? [] : [[seen, typed]];
        return [
          [seen, 'perhaps\r'],
          ['Answer y or n.', ''],
          [seen, 'n\r'],
        ];
      });
      const { code, text, missed } = await talk(turns, [], 60);
      expect({ code, missed }, text).to.deep.equal({ code: 0, missed: [] });
      const [welcome = ''] = text.split('/.steward');
      const lines = welcome.split('\r\n').slice(0, -1);
      expect(lines.length).to.be.at.least(4);
      for (const [index, line] of lines.entries()) {
        expect(line.length).to.be.at.most(60);
        const [next = ''] = (lines[index + 1] ?? '').split(' ');
        if (next !== '') expect(`${line} ${next}`.length, 'the next word did not fit').to.be.above(60);
      }
      expect(await value('sense.repos')).to.deep.equal([join(home.path, 'src', 'two')]);
    });

    it('repeats a question after an invalid answer, and postpones steps that are not possible yet', async () => {
      const turns: Turn[] = ALL.map(([seen, typed]) =>
        seen === 'OWNER/REPO' ? [seen, 'ann/work\r'] : [seen, typed],
      );
      turns.splice(
        2,
        1,
        ['May steward speak', 'loud\r'],
        ['Enter on, mute or off', ''],
        ['May steward speak', 'on\r'],
      );
      const { code, text, missed } = await talk(turns.filter(([seen]) => seen !== 'Repositories to watch'));
      expect({ code, missed }, text).to.deep.equal({ code: 0, missed: [] });
      expect(text).to.include('to retry "work"');
      const { done } = (await json('init', '--yes', '--voice', 'on')) as { done: boolean };
      expect(done).to.equal(true);
    });
  });
});
