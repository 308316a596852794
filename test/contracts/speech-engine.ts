import { expect } from 'chai';
import { existsSync, readFileSync, rmSync } from 'node:fs';

import type { SpeechEngine, SpeechMachine } from '../../src/lib/notify/speech/engines/engine';
import { isAlive } from '../../src/lib/platform/files/lock';
import { run, type RunOptions } from '../../src/lib/platform/process/process';
import { rejection } from '../helpers/errors';
import { scratch } from '../helpers/scratch';
import { machineWith, orderOf, script } from '../helpers/speech';

/** Where an engine is at home. */
export interface SpeechSituation {
  platform: 'linux' | 'darwin' | 'win32';
  /** The programs that it needs, players included. */
  programs: readonly string[];
}

/** What every engine keeps, whatever it speaks with. */
export function speechEngineContract(engine: SpeechEngine, { platform, programs }: SpeechSituation): void {
  describe(`speech engine ${engine.id}`, () => {
    const box = scratch();
    const all = (path: (program: string) => string): Record<string, string> =>
      Object.fromEntries(programs.map((program) => [program, path(program)]));

    it('has an id that can be configured', () => {
      expect(engine.id).to.match(/^[a-z][a-z-]*$/);
    });

    it('is detected only with its programs on its system, without starting anything', () => {
      const silent = (machine: SpeechMachine): SpeechMachine => ({
        ...machine,
        run: () => expect.fail('it started a program'),
      });
      const home = machineWith(
        all((program) => `/opt/${program}`),
        platform,
      );
      expect(engine.detect(silent(home))).to.equal(true);
      expect(engine.detect(silent(machineWith({}, platform)))).to.equal(false);
      // What is at home on Linux may be installed on macOS, too.
      const others = { linux: ['win32'], darwin: ['linux', 'win32'], win32: ['linux', 'darwin'] } as const;
      for (const other of others[platform]) {
        expect(engine.detect(silent({ ...home, platform: other })), other).to.equal(false);
      }
    });

    it('puts no text on a command line', async () => {
      const text = '-rf $(touch x) `id` "quoted" [[h@l]] !-!QUIT';
      const asked: { args: readonly string[]; options: RunOptions }[] = [];
      const machine: SpeechMachine = {
        ...machineWith(
          all((program) => `/opt/${program}`),
          platform,
        ),
        run: (_file, args, options) => {
          asked.push({ args, options });
          return run(process.execPath, ['-e', '0'], { timeoutMs: 20_000 });
        },
      };
      await engine.speak(machine, orderOf(text));
      expect(asked).not.to.deep.equal([]);
      const scripts = asked.map(({ args }) => {
        const at = args.indexOf('-EncodedCommand');
        return at === -1 ? '' : Buffer.from(args[at + 1] ?? '', 'base64').toString('utf16le');
      });
      const lines = [...asked.flatMap(({ args }) => args), ...scripts];
      for (const line of lines) expect(line).not.to.match(/touch|quoted|h@l|QUIT/);
      const inputs = asked.map(({ options }) => String(options.input ?? ''));
      for (const input of inputs) expect(input).not.to.match(/\[\[|^!-!/m);
      expect(
        asked.every(({ options }) => options.signal !== undefined && options.timeoutMs <= 20_000),
      ).to.equal(true);
    });

    describe('with programs that fail', function () {
      before(function () {
        if (process.platform === 'win32') this.skip();
      });

      it('names the program that failed, with its error', async () => {
        const machine = machineWith(
          all((program) => script(box.path(program), 'echo "\u001b[31mno sound card" >&2; exit 3')),
          platform,
        );
        const error = await rejection(engine.speak(machine, orderOf('Hi')));
        expect(error.kind).to.equal('unavailable');
        expect(error.message).to.match(/^\S+ failed with code 3: no sound card\./);
        expect(error.hint).to.match(/^[A-Z].+\.$/);
      });

      it('kills a hanging program with its children at the time limit or on request', async () => {
        const pids = box.path('pids');
        const hang = `sleep 600 & echo $! >'${pids}.part'; mv '${pids}.part' '${pids}'; wait`;
        const machine = machineWith(
          all((program) => script(box.path(program), hang)),
          platform,
        );
        const late = await rejection(engine.speak(machine, orderOf('Hi', { remainingMs: () => 2000 })));
        expect(late.message).to.match(/timed out after/);
        await ended(pids);
        const stop = new AbortController();
        const stopped = rejection(engine.speak(machine, orderOf('Hi', { signal: stop.signal })));
        while (!existsSync(pids)) await new Promise((resolve) => setTimeout(resolve, 5));
        stop.abort();
        expect((await stopped).kind).to.equal('canceled');
        await ended(pids);
      });
    });
  });
}

/** Waits for the end of the process whose id is in the file, which is then removed. */
async function ended(pids: string): Promise<void> {
  const pid = Number(readFileSync(pids, 'utf8'));
  rmSync(pids);
  const isZombie = (): boolean =>
    existsSync(`/proc/${pid}/stat`) && / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  while (isAlive(pid) && !isZombie()) await new Promise((resolve) => setTimeout(resolve, 5));
}
