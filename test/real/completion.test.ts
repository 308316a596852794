import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { cleanEnv, emptyHome, steward } from '../helpers/cli';
import { requirePrograms } from '../helpers/real-part';

describe('completion in the real shells', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;

  beforeEach(() => {
    home = emptyHome();
  });

  afterEach(() => {
    home.remove();
  });

  /** Writes the shell's script to a file and gives its path. */
  async function scriptOf(shell: string): Promise<string> {
    const { stdout, code } = await steward(['autocomplete', 'script', shell]);
    expect(code).to.equal(0);
    const path = join(home.path, `steward.${shell}`);
    writeFileSync(path, stdout);
    return path;
  }

  function shell(program: string, args: string[]): string {
    const result = spawnSync(program, args, {
      env: cleanEnv(home.path),
      encoding: 'utf8',
      cwd: home.path,
      timeout: 60_000,
    });
    expect(result.stderr).to.equal('');
    expect(result.status).to.equal(0);
    return result.stdout;
  }

  it('bash', async function () {
    requirePrograms(this, { bash: 'bash' });
    const script = await scriptOf('bash');
    const complete = (line: string): string[] =>
      shell('bash', [
        '--norc',
        '-c',
        `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _steward; printf '%s\\n' "\${COMPREPLY[@]}"`,
        script,
        ...line.split(' '),
      ])
        .split('\n')
        .filter((word) => word !== '');
    expect(complete('steward se')).to.deep.equal(['sense', 'sessions']);
    expect(complete('steward sense exp')).to.deep.equal(['export']);
    expect(complete('steward sense export --j')).to.deep.equal(['--json']);
    expect(complete('steward --json sense exp')).to.deep.equal(['export']);
    expect(complete('steward autocomplete script ')).to.deep.equal(['bash', 'zsh', 'fish']);
    expect(complete('steward config add sense.re')).to.deep.equal(['sense.repos', 'sense.retentionDays']);
    expect(complete('steward nonsense x')).to.deep.equal([]);
    expect(shell('bash', ['--norc', '-c', 'source "$0"; complete -p steward', script])).to.include(
      '-F _steward steward',
    );
  });

  it('zsh', async function () {
    requirePrograms(this, { zsh: 'zsh' });
    const script = await scriptOf('zsh');
    const driver = join(home.path, 'driver.zsh');
    // A shell in a pseudo-terminal, with Tab and Enter pressed in it: a function that stands for steward
    // says what was completed. Each read waits for what has to come.
    writeFileSync(
      driver,
      `zmodload zsh/zpty
zpty z 'zsh -f -i'
zpty -w z "autoload -U compinit; compinit -u -D; source $1; steward() { print -r -- \\"ran:\\$*:\\" }; print loaded-\\$((1 + 1))"
zpty -r z seen '*loaded-2*'
zpty -w z $'steward sense exp\\t--j\\t'
zpty -r z seen '*ran:sense export --json:*' && print completed
zpty -w z $'steward autocomplete script zs\\t'
zpty -r z seen '*ran:autocomplete script zsh:*' && print completed
zpty -d z
`,
    );
    expect(shell('zsh', ['-f', driver, script])).to.equal('completed\ncompleted\n');
  });

  it('fish', async function () {
    requirePrograms(this, { fish: 'fish' });
    const script = await scriptOf('fish');
    const complete = (line: string): string[] =>
      shell('fish', ['--no-config', '-c', `source ${script}; complete -C '${line}'`])
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => text.split('\t')[0] ?? '');
    expect(complete('steward se')).to.deep.equal(['sense', 'sessions']);
    expect(complete('steward sense exp')).to.deep.equal(['export']);
    expect(complete('steward sense export --j')).to.deep.equal(['--json']);
    expect(complete('steward --json sense exp')).to.deep.equal(['export']);
    expect(complete('steward autocomplete script ')).to.have.members(['bash', 'zsh', 'fish']);
  });
});
