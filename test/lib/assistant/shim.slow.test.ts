import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { shimCommands, shimForm } from '../../../src/lib/assistant/shim';
import {
  launcherTarget,
  renderLauncher,
  type LauncherTarget,
} from '../../../src/lib/platform/process/launcher';
import type { PathHost } from '../../../src/lib/platform/files/paths';
import { forShell } from '../../../src/lib/platform/process/spawn';
import { requirePrograms } from '../../helpers/real-part';
import { scratch } from '../../helpers/scratch';

const TEMPLATES = join(__dirname, '..', '..', '..', 'templates', 'launcher');
const read = (name: string): string => readFileSync(join(TEMPLATES, name), 'utf8');

/** What the shim starts, and the user area where it is not the default one. */
interface ShimTarget extends LauncherTarget {
  area: string | undefined;
}

function renderShim({ area, ...target }: ShimTarget, host: PathHost): string {
  const ending = host.platform === 'win32' ? 'cmd' : 'sh';
  const template = { body: read(`steward-hook.${ending}`), find: read(`find.${ending}`) };
  return renderLauncher(template, target, shimForm({ area, host }).values, host);
}

/** A stand-in for node: says what it was asked to run, in which area, with which options. */
const NODE = `#!/bin/sh
[ "$1" != --version ] || { echo v22.1.0; exit; }
printf '%s|' "$0" "$@" "area=\${STEWARD_HOME-}" "options=\${NODE_OPTIONS-}"
`;
const SCRIPT = '#!/usr/bin/env node\n';

const SHELLS: readonly { name: string; package: string; command: string[] }[] = [
  { name: 'dash', package: 'dash', command: ['dash'] },
  { name: 'bash', package: 'bash', command: ['bash', '--posix'] },
  { name: 'busybox', package: 'busybox', command: ['busybox', 'sh'] },
  { name: 'zsh', package: 'zsh', command: ['zsh', '--emulate', 'sh'] },
];

for (const shell of SHELLS) {
  describe(`assistant: the shim in ${shell.name}`, () => {
    const box = scratch();

    before(function () {
      requirePrograms(this, { [shell.name]: shell.package });
    });

    /** Makes an executable file. */
    function put(path: string, text: string): string {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      chmodSync(path, 0o755);
      return path;
    }

    function target(over: Partial<ShimTarget> = {}): ShimTarget {
      return {
        node: box.path('gone', 'node'),
        nodeAlias: box.path('gone', 'node'),
        steward: box.path('gone', 'run.js'),
        area: undefined,
        ...over,
      };
    }

    function run(at: ShimTarget, env: NodeJS.ProcessEnv = {}, args: string[] = ['prompt'], cwd = box.path()) {
      const shim = box.path('steward-hook');
      writeFileSync(shim, renderShim(at, hostWith({})));
      const [program = '', ...first] = shell.command;
      const path = spawnSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
      const { status, stdout, stderr } = spawnSync(path, [...first, shim, ...args], {
        cwd,
        encoding: 'utf8',
        env: {
          HOME: box.path('home'),
          PATH: '',
          N_PREFIX: box.path('n'),
          HOMEBREW_PREFIX: box.path('brew'),
          ...env,
        },
      });
      return { status, stdout, stderr };
    }

    function calls(
      node: string,
      script: string,
      ...rest: string[]
    ): { status: number; stdout: string; stderr: string } {
      const words = [node, script, 'hook', 'prompt', ...(rest.length === 0 ? ['area=', 'options='] : rest)];
      return { status: 0, stdout: words.map((word) => `${word}|`).join(''), stderr: '' };
    }

    it('starts what was recorded, with its arguments as they are', () => {
      const node = put(box.path('node'), NODE);
      const steward = put(box.path('run.js'), SCRIPT);
      const at = target({ node, steward });
      expect(run(at)).to.deep.equal(calls(node, steward));
      const odd = ['a b', "c'd", '"', '$HOME', '*', '', '%PATH%', 'größe'];
      expect(run(at, {}, odd).stdout).to.equal(
        [node, steward, 'hook', ...odd, 'area=', 'options='].map((word) => `${word}|`).join(''),
      );
    });

    it('takes paths with anything in them', () => {
      for (const name of [
        "a b'c",
        '100%',
        'größe 🦉',
        '$(touch x)`y`',
        'a"b\\c',
        '*',
        '@NODE@ $& $1',
        '-n',
      ]) {
        const node = put(box.path(name, 'node'), NODE);
        const steward = put(box.path(name, 'run.js'), SCRIPT);
        const area = box.path(name);
        expect(run(target({ node, steward, area })), name).to.deep.equal(
          calls(node, steward, `area=${area}`, 'options='),
        );
      }
    });

    it('leaves another user area that is chosen, and options that a project set for Node.js out', () => {
      const node = put(box.path('node'), NODE);
      const steward = put(box.path('run.js'), SCRIPT);
      const env = { STEWARD_HOME: '/elsewhere', NODE_OPTIONS: '--require ./evil.js' };
      expect(run(target({ node, steward, area: '/area' }), env)).to.deep.equal(
        calls(node, steward, 'area=/elsewhere', 'options='),
      );
    });

    it('finds node by the name that stays, when the version it was is gone', () => {
      const nodeAlias = put(box.path('alias', 'node'), NODE);
      const steward = put(box.path('run.js'), SCRIPT);
      expect(run(target({ nodeAlias, steward }))).to.deep.equal(calls(nodeAlias, steward));
    });

    it('finds node and steward on the PATH', () => {
      const node = put(box.path('b in', 'node'), NODE);
      const real = put(box.path('lib', 'run.js'), SCRIPT);
      symlinkSync(real, box.path('b in', 'steward'));
      const path = ['/nowhere', box.path('b in'), '/usr/none'].join(':');
      expect(run(target(), { PATH: path })).to.deep.equal(calls(node, box.path('b in', 'steward')));
    });

    it('passes by a node on the PATH that is too old, or does not run', () => {
      put(box.path('old', 'node'), '#!/bin/sh\necho v18.20.8\n');
      put(box.path('older', 'node'), '#!/bin/sh\necho v9.0.0\n');
      put(box.path('broken', 'node'), '#!/nowhere/sh\n');
      const node = put(box.path('new', 'node'), NODE);
      const steward = put(box.path('run.js'), SCRIPT);
      const path = ['old', 'older', 'broken', 'new'].map((name) => box.path(name)).join(':');
      expect(run(target({ steward }), { PATH: path })).to.deep.equal(calls(node, steward));
    });

    it('passes by a steward on the PATH that is the shim of a version manager', () => {
      const node = put(box.path('bin', 'node'), NODE);
      put(box.path('volta', 'steward'), '\u007fELF\u0000\u0001');
      put(box.path('asdf', 'steward'), '#!/usr/bin/env bash\nexec asdf exec "steward" "$@"\n');
      put(box.path('empty', 'steward'), '');
      const steward = put(box.path('npm', 'steward'), SCRIPT);
      const path = ['volta', 'asdf', 'empty', 'bin', 'npm'].map((name) => box.path(name)).join(':');
      expect(run(target(), { PATH: path })).to.deep.equal(calls(node, steward));
    });

    it('runs nothing of the current folder or of a project', () => {
      const project = box.path('project');
      const evil = `#!/bin/sh\n: >${box.path('executed')}\n`;
      for (const folder of ['', 'bin', 'node_modules/.bin', 'sub']) {
        put(join(project, folder, 'node'), evil);
        put(join(project, folder, 'steward'), SCRIPT);
        put(join(project, folder, 'printf'), evil);
      }
      const paths = [
        '',
        ':',
        '.',
        'bin',
        './bin:',
        ':sub',
        '~/bin',
        `${project}/node_modules/.bin`,
        `${project}/node_modules/.bin/`,
      ];
      for (const path of paths) {
        const env = { PATH: path, HOME: '', NVM_DIR: 'sub', FNM_DIR: '.' };
        expect(run(target(), env, ['prompt'], project), path).to.deep.equal({
          status: 0,
          stdout: '',
          stderr: '',
        });
      }
      expect(existsSync(box.path('executed'))).to.equal(false);
    });

    const VERSION = 'lib/node_modules/steward-cli/bin/run.js';
    const places: [name: string, folder: string, env?: Record<string, string>][] = [
      ['nvm', 'home/.nvm/versions/node/v22.1.0'],
      ['nvm elsewhere', 'my nvm/versions/node/v22.1.0', { NVM_DIR: 'my nvm' }],
      ['fnm', 'home/.local/share/fnm/node-versions/v22.1.0/installation'],
      ['fnm on macOS', 'home/Library/Application Support/fnm/node-versions/v22.1.0/installation'],
      ['asdf', 'home/.asdf/installs/nodejs/22.1.0'],
      ['mise', 'home/.local/share/mise/installs/node/22.1.0'],
      ['npm with the Node.js of Homebrew', 'brew', { HOMEBREW_PREFIX: 'brew' }],
      ['a Nix profile', 'home/.nix-profile/lib/steward'],
      ['n', 'n', { N_PREFIX: 'n' }],
    ];
    for (const [name, folder, set = {}] of places) {
      it(`finds both where ${name} keeps them, with an older version beside`, () => {
        const node = put(box.path(folder, 'bin', 'node'), NODE);
        const steward = put(box.path(folder, VERSION), SCRIPT);
        if (folder.includes('22.1.0')) {
          put(box.path(folder.replace('22.1.0', '18.20.4'), 'bin', 'node'), NODE);
        }
        const env = Object.fromEntries(Object.entries(set).map(([key, value]) => [key, box.path(value)]));
        expect(run(target(), env)).to.deep.equal(calls(node, steward));
      });
    }

    it("finds both where Homebrew's formula keeps them, each apart", () => {
      const node = put(box.path('brew/bin/node'), NODE);
      const steward = put(box.path('brew/opt/steward/libexec', VERSION), SCRIPT);
      expect(run(target())).to.deep.equal(calls(node, steward));
    });

    it('finds both where Volta keeps them, each apart; and the global packages of pnpm', () => {
      const node = put(box.path('home/.volta/tools/image/node/22.1.0/bin/node'), NODE);
      const steward = put(box.path('home/.volta/tools/image/packages/steward-cli', VERSION), SCRIPT);
      expect(run(target())).to.deep.equal(calls(node, steward));
      rmSync(box.path('home/.volta/tools/image/packages'), { recursive: true });
      const pnpm = put(
        box.path('home/.local/share/pnpm/global/5/node_modules/steward-cli/bin/run.js'),
        SCRIPT,
      );
      expect(run(target())).to.deep.equal(calls(node, pnpm));
    });

    it('says where they are, when it is asked', () => {
      const node = put(box.path('node'), NODE);
      const steward = put(box.path('run.js'), SCRIPT);
      expect(run(target({ node, steward }), {}, ['--where'])).to.deep.equal({
        status: 0,
        stdout: `${node}\n${steward}\n`,
        stderr: '',
      });
    });

    it('prints the status line, and the one above it even when steward is gone', () => {
      const node = put(box.path('node'), NODE);
      const steward = put(box.path('run.js'), SCRIPT);
      const args = ['statusline', '--then', "echo 'a b'"];
      expect(run(target({ node, steward }), {}, args).stdout).to.equal(
        [node, steward, ...args, 'area=', 'options='].map((word) => `${word}|`).join(''),
      );
      expect(run(target(), {}, args)).to.deep.equal({ status: 0, stdout: 'a b\n', stderr: '' });
      expect(run(target(), {}, ['statusline'])).to.deep.equal({ status: 0, stdout: '', stderr: '' });
    });

    it('does nothing and says nothing when it finds neither', () => {
      // The real node of this machine may be in a place that is looked at; steward is not.
      expect(run(target())).to.deep.equal({ status: 0, stdout: '', stderr: '' });
      expect(run(target(), { HOME: undefined, PATH: undefined })).to.deep.equal({
        status: 0,
        stdout: '',
        stderr: '',
      });
    });

    it('ends with 0 where a node does not start', function () {
      // zsh leaves at once, without its traps; as it is registered, the command ends with 0 there too.
      if (shell.name === 'zsh') this.skip();
      const steward = put(box.path('run.js'), SCRIPT);
      const node = put(box.path('node'), '#!/nowhere/interpreter\n');
      expect(run(target({ node, steward }))).to.include({ status: 0, stdout: '' });
    });

    it('as it is registered ends with 0 when everything is gone, and whatever a node does', () => {
      const path = box.path("it's here", 'steward-hook');
      const { commandFor } = shimCommands(path, hostWith({}));
      const [program = '', ...first] = shell.command;
      const registered = () =>
        spawnSync(program, [...first, '-c', commandFor('stop')], { encoding: 'utf8', cwd: box.path() });
      expect(registered()).to.include({ status: 0, stdout: '' });
      put(path, '#!/nowhere/interpreter\n');
      expect(registered()).to.include({ status: 0, stdout: '' });
      const node = put(box.path('node'), '#!/bin/sh\necho "{}"; exit 2\n');
      const steward = put(box.path('run.js'), SCRIPT);
      put(path, renderShim(target({ node, steward }), hostWith({})));
      expect(registered()).to.include({ status: 0, stdout: '{}\n' });
    });
  });
}

describe('assistant: the shim as it is rendered', () => {
  const box = scratch();

  it('records a link on the PATH that stays when node is upgraded, and no link of a session or a project', () => {
    const real = box.path('Cellar', 'node', '22.1.0', 'bin', 'node');
    mkdirSync(dirname(real), { recursive: true });
    cpSync('/bin/sh', real, { dereference: true });
    const links = ['fnm_multishells/1_2/bin', 'p/node_modules/.bin', 'bin'].map((name) => box.path(name));
    for (const folder of links) {
      mkdirSync(folder, { recursive: true });
      symlinkSync(real, join(folder, 'node'));
    }
    const product = { root: '/pkg', node: real };
    const path = ['relative', '', ...links].join(':');
    expect(launcherTarget({ product, host: hostWith({ PATH: path }) })).to.deep.equal({
      node: real,
      nodeAlias: box.path('bin', 'node'),
      steward: '/pkg/bin/run.js',
    });
    renameSync(box.path('bin'), box.path('moved'));
    expect(launcherTarget({ product, host: hostWith({ PATH: path }) }).nodeAlias).to.equal(real);
  });

  it('records the link of steward on the PATH, or its place in a Nix profile', () => {
    const script = 'lib/node_modules/steward-cli/bin/run.js';
    const product = { root: '', node: '/bin/sh' };
    const install = (root: string): void => {
      mkdirSync(join(root, 'bin'), { recursive: true });
      writeFileSync(join(root, 'bin', 'run.js'), SCRIPT);
      product.root = root;
    };
    install(box.path('Cellar', 'steward', '0.1.0', 'libexec', 'lib', 'node_modules', 'steward-cli'));
    mkdirSync(box.path('bin'));
    symlinkSync(join(product.root, 'bin', 'run.js'), box.path('bin', 'steward'));
    const brew = hostWith({ PATH: box.path('bin') });
    expect(launcherTarget({ product, host: brew }).steward).to.equal(box.path('bin', 'steward'));

    const store = box.path('store', 'abc-steward-0.1.0');
    install(join(store, 'lib', 'steward', 'lib', 'node_modules', 'steward-cli'));
    symlinkSync(store, box.path('profile'));
    const nix = hostWith({ PATH: box.path('profile', 'bin') });
    expect(launcherTarget({ product, host: nix }).steward).to.equal(
      box.path('profile', 'lib', 'steward', script),
    );
  });

  it('leaves no placeholder, in either form', () => {
    const at: ShimTarget = { node: '/n', nodeAlias: '/n', steward: '/s', area: '/a' };
    const env = { APPDATA: 'C:\\Users\\Zoë\\AppData\\Roaming' };
    const windows = { platform: 'win32' as const, env, home: 'C:\\Users\\Zoë' };
    expect(renderShim(at, hostWith({}))).to.not.match(/@[A-Z_]+@/);
    const batch = renderShim(
      {
        node: 'C:\\Program Files\\100%\\node.exe',
        nodeAlias: 'unused',
        steward: 'c:\\users\\zoë\\appdata\\roaming\\npm\\node_modules\\steward-cli\\bin\\run.js',
        area: 'D:\\steward',
      },
      windows,
    );
    expect(batch).to.not.match(/@[A-Z_]+@/);
    expect(batch).to.include('set "node=C:\\Program Files\\100%%\\node.exe"\r\n');
    // A batch file is read in the console's code page: letters outside of ASCII come from the variable.
    expect(batch).to.include('set "steward=%APPDATA%\\npm\\node_modules\\steward-cli\\bin\\run.js"\r\n');
    expect(batch).to.include('if not defined STEWARD_HOME set "STEWARD_HOME=D:\\steward"\r\n');
    expect(batch.split('\r\n').join('')).to.not.match(/[\r\n]/);
  });

  it('quotes a word for a shell only where it has to be', () => {
    expect(forShell('/usr/bin/node')).to.equal('/usr/bin/node');
    expect(forShell("/a b/it's")).to.equal(`'/a b/it'\\''s'`);
    expect(forShell('')).to.equal(`''`);
    expect(forShell('~/x')).to.equal(`'~/x'`);
  });
});

function hostWith(env: NodeJS.ProcessEnv) {
  return { platform: 'linux' as const, env, home: '/home/ann' };
}
