import { expect } from 'chai';

import { StewardError } from '../../../src/lib/errors';
import { goToSession, placesOf, type GoDeps, type Went } from '../../../src/lib/sessions/jump';
import type { Session } from '../../../src/lib/sessions/session';
import { seeded, type Random } from '../../helpers/random';
import { scratch } from '../../helpers/scratch';
import { SIMULATED, TabWorld, type SimulatedTab } from '../../helpers/tab-world';
import { long } from '../../helpers/long';

const TARGETS = 1000;
const FIRST_SEED = Number(process.env['STEWARD_SEED'] ?? 1);

describe('the tab of a session', () => {
  const folder = scratch();
  const device = (n: number): string => `/dev/ttys${String(n).padStart(3, '0')}`;

  const depsOf = (world: TabWorld): GoDeps => ({
    run: world.run,
    env: world.env,
    platform: 'darwin',
    machineId: 'here',
  });

  function sessionIn(world: TabWorld, tab: SimulatedTab): { session: Session; pid: number } {
    const pid = world.start('/usr/local/bin/claude', tab.tty);
    const started = world.processes.get(pid)?.started ?? '';
    const terminal = { tty: null, program: null, kittySocket: 'unix:@kitty', pid: null, started: null };
    const process = { pid, started, boot: '', namespace: '' };
    return { session: { slug: 'shop', machine: 'here', terminal, process } as unknown as Session, pid };
  }

  async function outcome(world: TabWorld, session: Session): Promise<Went | StewardError> {
    try {
      return await goToSession(depsOf(world), session, 'shop');
    } catch (error) {
      if (error instanceof StewardError) return error;
      throw error;
    }
  }

  for (const program of SIMULATED) {
    it(`is shown in ${program}`, async () => {
      const world = new TabWorld(folder.path('tmp'), seeded(1));
      for (let n = 1; n <= 4; n += 1) world.open(program, device(n));
      const client = world.open('iterm2', device(5));
      world.tmuxClient = client.tty;
      const tab = world.tabs[2] as SimulatedTab;
      const { session } = sessionIn(world, tab);
      const went = await outcome(world, session);
      expect(went).to.include({ via: program, tty: device(3) });
      expect(world.shown).to.deep.equal(program === 'tmux' ? [tab, client] : [tab]);
    });
  }

  it('is named in lists without asking for a permission', async () => {
    const world = new TabWorld(folder.path('tmp'), seeded(1));
    const { session } = sessionIn(world, world.open('tmux', device(1)));
    const other = { ...sessionIn(world, world.open('iterm2', device(2))).session, slug: 'other' };
    world.faults.set('iterm2', 'denied');
    expect([...(await placesOf(depsOf(world), [session, other]))]).to.deep.equal([['shop', 'work:1']]);
  });

  it('is refused with what macOS does not allow, or what the version does not tell', async () => {
    const hints = [];
    for (const fault of ['denied', 'fails'] as const) {
      const world = new TabWorld(folder.path('tmp'), seeded(1));
      const { session } = sessionIn(world, world.open('ghostty', device(1)));
      world.faults.set('ghostty', fault);
      hints.push(((await outcome(world, session)) as StewardError).hint);
    }
    expect(hints[0]).to.include('Allow it in System Settings > Privacy & Security > Automation.');
    expect(hints[1]).to.include('Update Ghostty');
  });

  it('is unknown, not elsewhere, if a program does not answer', async () => {
    const world = new TabWorld(folder.path('tmp'), seeded(1));
    const { session } = sessionIn(world, world.open('tmux', device(1)));
    world.faults.set('tmux', 'silent');
    expect(((await outcome(world, session)) as StewardError).hint).to.include(
      'tmux did not answer within 5 s.',
    );
    expect([...(await placesOf(depsOf(world), [session]))]).to.deep.equal([]);
  });

  long(`is never another one: ${TARGETS} stale and duplicate targets`, async () => {
    const counts = { right: 0, refused: 0 };
    for (let seed = FIRST_SEED; seed < FIRST_SEED + TARGETS; seed += 1) {
      const random = seeded(seed);
      const world = new TabWorld(folder.path('tmp'), random);
      const { session, pid } = targetIn(world, random);
      const result = await outcome(world, session);
      // Where tmux shows it, the tab of tmux's client follows.
      const [first, client] = world.shown;
      const held = world.processes.get(pid);
      const isRight = held?.started === session.process?.started && held?.tty === first?.tty;
      if (first !== undefined) expect(isRight, `seed ${seed} showed another tab`).to.equal(true);
      if (client !== undefined) expect(client.tty, `seed ${seed}`).to.equal(world.tmuxClient);
      if (result instanceof StewardError) {
        expect([result.kind, result.hint !== undefined], `seed ${seed}`).to.deep.equal(['unavailable', true]);
        counts.refused += 1;
      } else {
        expect(first, `seed ${seed} claims a jump`).to.not.equal(undefined);
        counts.right += 1;
      }
    }
    console.log(`      ${counts.right} shown, ${counts.refused} refused`);
    expect(counts.right).to.be.greaterThan(TARGETS / 10);
    expect(counts.refused).to.be.greaterThan(TARGETS / 10);
  });

  /** Builds terminals with a session in one of them, and something that is stale, duplicate or silent. */
  function targetIn(world: TabWorld, random: Random): { session: Session; pid: number } {
    const count = 2 + random.below(8);
    for (let n = 1; n <= count; n += 1) world.open(random.pick(SIMULATED), device(n));
    const tab = random.pick(world.tabs);
    const other = random.pick(world.tabs.filter((each) => each !== tab));
    const { session, pid } = sessionIn(world, tab);
    if (random.chance(0.5)) world.tmuxClient = random.pick(world.tabs).tty;
    const reuse = (): void => {
      // The tab closes, and another one gets its device.
      world.processes.delete(pid);
      world.close(tab);
      world.open(random.pick([tab.program, other.program]), tab.tty);
    };
    const changes: (() => void)[] = [
      () => undefined,
      // Another tab claims the device.
      () => (other.claims = tab.tty),
      // A server that lists devices of its own, while the right program is silent.
      () => {
        world.faults.set(tab.program, 'fails');
        const stale = random.pick(['tmux', 'herdr', 'kitty'] as const);
        if (stale !== tab.program) world.open(stale, device(99)).claims = tab.tty;
      },
      () =>
        world.faults.set(
          random.pick(SIMULATED),
          random.pick(['missing', 'fails', 'garbage', 'denied', 'silent']),
        ),
      reuse,
      () => (world.before.list = reuse),
      () => (world.before.focus = () => world.close(tab)),
      // The process ends and its number goes to another one.
      () =>
        world.processes.set(pid, { tty: tab.tty, started: 'Mon Nov 23 09:00:00 2026', program: '/bin/ls' }),
      // It moves to another terminal.
      () => Object.assign(world.processes.get(pid) ?? {}, { tty: other.tty }),
    ];
    random.pick(changes)();
    if (random.chance(0.3)) random.pick(changes)();
    // A terminal emulator holds the device that it names, so alone it is believed.
    const isBelieved = ({ program }: SimulatedTab): boolean => !['tmux', 'herdr', 'kitty'].includes(program);
    if (world.faults.size > 0) for (const each of world.tabs.filter(isBelieved)) each.claims = each.tty;
    return { session, pid };
  }
});
