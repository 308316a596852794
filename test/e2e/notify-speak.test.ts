import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startDaemon } from '../helpers/daemon';
import { until } from '../helpers/desktop-kit';
import { script } from '../helpers/speech';

describe('steward notify speak', function () {
  this.timeout(180_000);
  it('shows with --dry-run what would be spoken, without an engine', async () => {
    const env = { PATH: '/nonexistent' };
    const text = 'The show is live, where you live.';
    expect(await steward(['notify', 'speak', '--dry-run', text], { env })).to.deep.equal({
      code: 0,
      stdout: 'The show is lyve, where you live.\n',
      stderr: '',
    });
    const json = await steward(['notify', 'speak', text, '--dry-run', '--json'], { env });
    expect(jsonOf(json)).to.deep.equal({ text, spoken: 'The show is lyve, where you live.' });
    expect(json.stderr).to.equal('');
  });

  it('applies your pronunciations, and reports a broken file on stderr', async () => {
    const home = emptyHome();
    try {
      const folder = join(home.path, '.steward', 'principal');
      mkdirSync(folder, { recursive: true });
      const speak = (content: string) => {
        writeFileSync(join(folder, 'pronunciations.json'), content);
        return steward(['notify', 'speak', '--dry-run', '--json', 'Live Nation runs $x'], {
          home: home.path,
        });
      };
      const good = await speak('{"Live Nation": "Live Nation", "$x": "$&"}');
      expect(jsonOf(good)).to.include({ spoken: 'Live Nation runs $&' });
      expect(good.stderr).to.equal('');
      const broken = await speak('{"Live Nation": 1}');
      expect(jsonOf(broken)).to.include({ spoken: 'lyve Nation runs $x' });
      expect(broken.stderr).to.match(
        /pronunciations\.json is invalid: "Live Nation" has a respelling that is not a string/,
      );
    } finally {
      home.remove();
    }
  });

  it('accepts a text that begins with a dash, after --', async () => {
    const { stdout } = await steward(['notify', 'speak', '--dry-run', '--', '--help is live']);
    expect(stdout).to.equal('--help is lyve\n');
  });

  const mistakes: [args: string[], code: number, message: RegExp][] = [
    [[], 2, /TEXT|text/],
    [[' \n'], 2, /The text is empty\./],
    [['x'.repeat(4001)], 2, /has 4001 characters; the limit is 4000/],
    [['hi', '--loud'], 2, /--loud/],
    [['Hello'], 8, /Could not speak the text\. No speech engine found\. Install an engine and a player/],
  ];
  for (const [args, code, message] of mistakes) {
    it(`exits ${code} and explains: ${String(message)}`, async function () {
      if (process.platform !== 'linux') this.skip();
      const result = await steward(['notify', 'speak', ...args], { env: { PATH: '/nonexistent' } });
      expect(result.code).to.equal(code);
      expect(result.stderr).to.match(message);
      expect(result.stdout).to.equal('');
      const json = await steward(['notify', 'speak', ...args, '--json'], { env: { PATH: '/nonexistent' } });
      expect(JSON.parse(json.stderr)).to.have.nested.property(
        'error.kind',
        code === 2 ? 'usage' : 'unavailable',
      );
    });
  }

  it('speaks 4,000 characters that take more UTF-16 units', async () => {
    const { code } = await steward(['notify', 'speak', '--dry-run', '😀'.repeat(4000)]);
    expect(code).to.equal(0);
  });
});

describe('the voice of several processes', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let env: Record<string, string>;
  beforeEach(function () {
    if (process.platform !== 'linux') this.skip();
    home = emptyHome();
    const bin = join(home.path, 'bin');
    mkdirSync(bin);
    // Speaks until it is told to end where a file of the text's name is, else for a moment.
    const lines = `read text; echo "begin $text" >>'${home.path}/log'
while [ -e '${home.path}/'"hold-$text" ]; do /bin/sleep 0.02; done; /bin/sleep 0.2
echo "end $text" >>'${home.path}/log'`;
    script(join(bin, 'espeak-ng'), lines);
    env = { PATH: bin };
  });
  afterEach(() => home?.remove());

  const speak = (text: string, more: Record<string, string> = {}): Promise<StewardResult> =>
    steward(['notify', 'speak', text], { home: home.path, env: { ...env, ...more } });
  const log = (): string[] => {
    const path = join(home.path, 'log');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  };
  const said = (...texts: string[]): string[] => texts.flatMap((text) => [`begin ${text}`, `end ${text}`]);
  const hold = (text: string): void => writeFileSync(join(home.path, `hold-${text}`), '');
  const release = (text: string): void => rmSync(join(home.path, `hold-${text}`));
  const begun = (text: string): Promise<true> =>
    until(`${text} is being spoken`, () => log().includes(`begin ${text}`) || undefined);
  /** So many speak or wait. */
  const inLine = (count: number): Promise<true> =>
    until(`${count} are in line`, () => {
      const names = readdirSync(join(home.path, '.local', 'state', 'steward', 'speech'));
      return names.filter((name) => /^\d{15}-/.test(name)).length === count || undefined;
    });

  it('speaks one text at a time in order of arrival, across user areas', async () => {
    hold('one');
    const results = [speak('one')];
    await begun('one');
    results.push(speak('two', { STEWARD_HOME: join(home.path, 'other') }));
    await inLine(2);
    results.push(speak('three'));
    await inLine(3);
    release('one');
    for (const { code, stderr } of await Promise.all(results)) expect(code, stderr).to.equal(0);
    expect(log()).to.deep.equal(said('one', 'two', 'three'));
  });

  it('never overlaps with the daemon', async () => {
    const daemon = await startDaemon({ home: home.path, env });
    try {
      hold('one');
      for (const text of ['one', 'two']) {
        const sent = await steward(['notify', 'send', text], { home: home.path, env });
        expect(sent.code, sent.stderr).to.equal(0);
      }
      await begun('one');
      const spoken = speak('three');
      await inLine(2);
      release('one');
      expect((await spoken).code).to.equal(0);
      await until('the daemon has spoken both', () => log().length === 6);
      const order = log().map((line) => line.split(' ')[0]);
      expect(order.join(' ')).to.equal('begin end begin end begin end');
    } finally {
      await daemon.stop();
    }
  });

  it('continues after a process is killed while speaking', async () => {
    hold('one');
    const args = [BIN, 'notify', 'speak', 'one'];
    const child = spawn(process.execPath, args, { env: cleanEnv(home.path, env), stdio: 'ignore' });
    await begun('one');
    const next = speak('two');
    await inLine(2);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { code, stderr } = await next;
    expect(code, stderr).to.equal(0);
    expect(log().slice(0, 3)).to.deep.equal(['begin one', 'begin two', 'end two']);
    release('one');
    await until('the engine of the killed one has ended', () => log().includes('end one'));
  });
});
