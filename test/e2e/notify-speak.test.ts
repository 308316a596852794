import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome, jsonOf, steward } from '../helpers/cli';

describe('steward notify speak', function () {
  this.timeout(180_000);
  it('shows with --dry-run what would be said, and needs no engine for it', async () => {
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

  it("says the principal's terms, and tells of a broken file on stderr", async () => {
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
      expect(broken.stderr).to.match(/pronunciations\.json: "Live Nation" has no respelling/);
    } finally {
      home.remove();
    }
  });

  it('takes a text that begins with a dash, behind --', async () => {
    const { stdout } = await steward(['notify', 'speak', '--dry-run', '--', '--help is live']);
    expect(stdout).to.equal('--help is lyve\n');
  });

  const mistakes: [args: string[], code: number, message: RegExp][] = [
    [[], 2, /TEXT|text/],
    [[' \n'], 2, /The text is empty\./],
    [['x'.repeat(4001)], 2, /has 4001 characters; at most 4000/],
    [['hi', '--loud'], 2, /--loud/],
    [['Hello'], 8, /It was not spoken\. Nothing here can speak\. Install an engine and a player/],
  ];
  for (const [args, code, message] of mistakes) {
    it(`exits ${code} with what is wrong: ${String(message)}`, async function () {
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

  it('speaks 4,000 characters that are more in UTF-16', async () => {
    const { code } = await steward(['notify', 'speak', '--dry-run', '😀'.repeat(4000)]);
    expect(code).to.equal(0);
  });
});
