import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';

import {
  parseGoals,
  goalLines,
  withGoalLines,
  withProject,
  parseProjects,
} from '../../../src/lib/goals/record';
import { parseClassifyRules, withRule } from '../../../src/lib/sense/classify-file';
import { withTerm } from '../../../src/lib/notify/speech/pronunciation';
import type { SharedGroup } from '../../../src/lib/platform/files/shared-group';
import { latestAt, readShared, share, type ShareDeps } from '../../../src/lib/sync/settings';
import { campaign, killsOr } from '../../helpers/random';
import { scratch } from '../../helpers/scratch';

const IDS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'];
const START = Date.parse('2026-11-20T09:00:00.000Z');
const DAY_MS = 86_400_000;

type Values = Map<string, readonly string[]>;

/** A machine with one group of settings in memory. `aheadMs` is how far its clock is ahead. */
interface Peer {
  id: string;
  values: Values | undefined;
  changedMs: number;
  aheadMs: number;
  hidden: Set<string>;
}

describe('settings that machines share (lib)', () => {
  const { path } = scratch();
  const clock = { nowMs: START };
  const peers: Peer[] = [];
  beforeEach(() => {
    clock.nowMs = START;
    mkdirSync(path('machines'), { recursive: true });
    peers.splice(0);
    for (const id of IDS)
      peers.push({ id, values: new Map(), changedMs: START, aheadMs: 0, hidden: new Set() });
  });
  const [A, B, C] = [0, 1, 2];
  const of = (index: number): Peer => peers[index] as Peer;
  const published = (id: string): string => path('machines', id, 'settings.json');
  const edit = (index: number, name: string, value: string | null): void => {
    const peer = of(index);
    clock.nowMs += 1000;
    peer.changedMs = clock.nowMs + peer.aheadMs;
    if (value === null) peer.values?.delete(name);
    else peer.values?.set(name, [value]);
  };
  const group = (peer: Peer): SharedGroup => ({
    files: [],
    read: () => Promise.resolve(peer.values && new Map(peer.values)),
    write: (changes) => {
      peer.values ??= new Map();
      for (const [name, value] of changes) {
        if (value === null) peer.values.delete(name);
        else peer.values.set(name, value);
      }
      peer.changedMs = clock.nowMs + peer.aheadMs;
      return Promise.resolve();
    },
    isValid: (_name, [text = '']) => text.startsWith('v'),
    isHidden: (name) => peer.hidden.has(name),
  });
  const depsOf = (peer: Peer): ShareDeps => ({
    nowMs: clock.nowMs + peer.aheadMs,
    machineId: peer.id,
    known: path(`${peer.id}.json`),
    others: IDS.filter((id) => id !== peer.id).map(published),
    groups: { goal: group(peer) },
    changedMs: () => peer.changedMs,
  });
  /** What arrives when the machines share one after the other. */
  const meet = async (...order: number[]): Promise<void> => {
    for (const index of order) {
      clock.nowMs += 1000;
      mkdirSync(dirname(published(of(index).id)), { recursive: true });
      await share(depsOf(of(index)), published(of(index).id));
    }
  };
  const valueOf = (index: number, name = 'G1') => of(index).values?.get(name)?.[0];
  const entryOf = (index: number) => readShared(depsOf(of(index)).known, latestAt(clock.nowMs))['goal/G1'];

  it('reach every machine, with the later change and without what was removed', async () => {
    edit(A, 'G1', 'v1');
    await meet(A, B, C);
    expect([B, C].map((index) => valueOf(index))).to.deep.equal(['v1', 'v1']);
    edit(C, 'G1', 'v2');
    await meet(C, A, B);
    expect([A, B].map((index) => valueOf(index))).to.deep.equal(['v2', 'v2']);
    edit(B, 'G1', null);
    await meet(B, A, C);
    expect([A, B, C].map((index) => valueOf(index))).to.deep.equal([undefined, undefined, undefined]);
    expect(entryOf(A)?.other).to.equal(undefined);
  });

  it('keep both values if two machines changed one entry, until it is changed again', async () => {
    edit(A, 'G1', 'v1');
    await meet(A, B, C);
    edit(A, 'G1', 'v2');
    edit(B, 'G1', 'v3');
    await meet(A, B, C, A);
    for (const index of [A, B, C]) {
      expect(valueOf(index)).to.equal('v3');
      expect(entryOf(index)?.other)
        .to.include({ by: IDS[A] })
        .and.deep.include({ value: ['v2'] });
    }
    edit(C, 'G1', 'v2');
    await meet(C, A, B);
    expect([A, B].map((index) => [valueOf(index), entryOf(index)?.other])).to.deep.equal([
      ['v2', undefined],
      ['v2', undefined],
    ]);
  });

  it('let a change win over one that a fast clock made before, but trust no clock a day ahead', async () => {
    of(A).aheadMs = DAY_MS / 2;
    edit(A, 'G1', 'v1');
    await meet(A, B);
    edit(B, 'G1', 'v2');
    await meet(B, A, C);
    expect([A, B, C].map((index) => valueOf(index))).to.deep.equal(['v2', 'v2', 'v2']);
    of(A).aheadMs = 400 * DAY_MS;
    edit(A, 'G1', 'v3');
    await meet(A, B, C);
    expect([B, C].map((index) => valueOf(index))).to.deep.equal(['v2', 'v2']);
    of(A).aheadMs = 0;
    edit(A, 'G1', 'v4');
    await meet(A, B, C);
    expect([B, C].map((index) => valueOf(index))).to.deep.equal(['v4', 'v4']);
  });

  it('remove nothing because a file is missing, and fill it again', async () => {
    edit(A, 'G1', 'v1');
    await meet(A, B);
    of(B).values = undefined;
    await meet(B, A);
    expect([A, B].map((index) => valueOf(index))).to.deep.equal(['v1', 'v1']);
  });

  it('publish no hidden entry, neither of this machine nor of another', async () => {
    edit(A, 'G1', 'v1');
    await meet(A, B);
    of(B).hidden.add('G1');
    await meet(B, A);
    expect(readFileSync(published(IDS[B] ?? ''), 'utf8')).not.to.include('G1');
    expect(valueOf(A)).to.equal('v1');
  });

  it('take nothing invalid from another machine', async () => {
    const [at, by] = ['2026-11-20T08:00:00.000Z', IDS[B]];
    const entries = {
      'goal/G1': { at, by, value: ['unfit'] },
      'goal/G2': { at: 'yesterday', by, value: ['v1'] },
      'goal/G3': { at, by, value: ['v\u001b[31mred'] },
      'other/G4': { at, by, value: ['v1'] },
      __proto__: { at, by, value: ['v1'] },
    };
    mkdirSync(dirname(published(IDS[B] ?? '')), { recursive: true });
    writeFileSync(published(IDS[B] ?? ''), JSON.stringify({ format: 1, entries }));
    await meet(A);
    expect([...(of(A).values ?? [])]).to.deep.equal([['G3', ['vred']]]);
    const damaged: string[] = [];
    readShared(published(IDS[B] ?? ''), latestAt(clock.nowMs), (_file, reason) => damaged.push(reason));
    expect(damaged).to.deep.equal(['has invalid entries or entries of the future']);
  });

  it('are the same everywhere after any order of changes, delays and lost writes', async () => {
    const random = campaign('shared settings');
    for (let round = 0; round < killsOr(8); round += 1) {
      for (let step = 0; step < 12; step += 1) {
        const index = random.below(3);
        const peer = of(index);
        if (random.chance(0.1)) peer.aheadMs = random.below(7_200_000) - 3_600_000;
        const name = `G${random.below(4)}`;
        if (random.chance(0.5)) edit(index, name, random.chance(0.2) ? null : `v${random.below(1000)}`);
        else if (random.chance(0.7)) await meet(index);
        else {
          // A kill after the settings were changed and before that was noted.
          const before = { ...group(peer) };
          const deps = { ...depsOf(peer), groups: { goal: before } };
          before.write = async (changes) => {
            await group(peer).write(changes);
            throw new Error('killed');
          };
          await share(deps, published(peer.id)).catch((error: Error) =>
            expect(error.message).to.equal('killed'),
          );
        }
      }
      await meet(A, B, C, A, B, C);
      const known = [A, B, C].map((index) => JSON.stringify([...(of(index).values ?? [])].sort()));
      expect(new Set(known).size, `round ${round}`).to.equal(1);
      edit(round % 3, 'G0', `v-last-${round}`);
      await meet(A, B, C, A, B, C);
      expect([A, B, C].map((index) => valueOf(index, 'G0'))).to.deep.equal(Array(3).fill(`v-last-${round}`));
    }
  });
});

describe('the files of shared settings (lib)', () => {
  it('keep a goal’s lines when another machine has them', () => {
    const file =
      '# Goals\n\n## Active Goals\n\n- **G1**: Ship\n  repos: shop\n\n- **G2**: Rest\n\n## Later\nText\n';
    expect(goalLines(file).get('G1')).to.deep.equal(['- **G1**: Ship', 'repos: shop']);
    const changed = withGoalLines(file, 'G1', ['- **G1**: Ship it', 'repos: shop, api', 'target: May']);
    expect(parseGoals(changed)[0]).to.deep.include({
      text: 'Ship it',
      repos: ['shop', 'api'],
      target: 'May',
    });
    expect(withGoalLines(changed, 'G1', ['- **G1**: Ship', 'repos: shop'])).to.equal(file);
    expect(parseGoals(withGoalLines(file, 'G1', null)).map(({ id }) => id)).to.deep.equal(['G2']);
    expect(parseGoals(withGoalLines(file, 'G3', ['- **G3**: Read'])).map(({ id }) => id)).to.include('G3');
  });

  it('change only one row of the projects', () => {
    const file = '| Project | Path | Note |\n|---|---|---|\n| **Shop** | `~/shop` | mine |\n\nText\n';
    const changed = withProject(withProject(file, 'Shop', '~/work/shop'), 'Api', '~/api');
    expect(parseProjects(changed).map(({ path: at }) => at)).to.deep.equal(['~/work/shop', '~/api']);
    expect(changed).to.include('`~/work/shop` | mine |').and.to.include('Text');
    expect(withProject(withProject(changed, 'Api', null), 'Shop', '~/shop')).to.equal(file);
    expect(parseProjects(withProject('', 'Shop', '~/shop'))).to.have.length(1);
  });

  it('change rules and terms in place', async () => {
    let text = '# mine\n- {app: Firefox, kind: neutral} # here\n- {glob: "x*", kind: creation}\n';
    for (const [key, pattern, kind] of [
      ['app', 'Firefox', 'consumption'],
      ['glob', 'x*', null],
      ['app', 'Zed', 'creation'],
      ['glob', 'game*', 'consumption'],
      ['bundleId', 'none', null],
    ] as const)
      text = await withRule(text, 'classify.yaml', { key, pattern }, kind);
    const rules = await parseClassifyRules(text, 'classify.yaml');
    expect(rules.map(({ key, pattern, kind }) => `${key} ${pattern} ${kind}`)).to.deep.equal([
      'app Zed creation',
      'app Firefox consumption',
      'glob game* consumption',
    ]);
    expect(text).to.include('# mine').and.to.include('# here');
    const only = await withRule('# a comment', 'x', { key: 'bundleId', pattern: 'org.zed' }, 'creation');
    expect(only).to.equal('# a comment\n- {bundleId: "org.zed", kind: creation}\n');

    expect(withTerm('', 'x', 'nginx', 'engine x')).to.equal('{\n  "nginx": "engine x"\n}\n');
    const noted = withTerm('{"_comment": "mine", "nginx": "engine x"}', 'x', 'nginx', null);
    expect(JSON.parse(noted)).to.deep.equal({ _comment: 'mine' });
    const listed = withTerm('{"terms": [{"term": "nginx", "say": "engine x"}]}', 'x', 'k8s', 'kates');
    expect(JSON.parse(listed)).to.deep.equal({ nginx: 'engine x', k8s: 'kates' });
  });
});
