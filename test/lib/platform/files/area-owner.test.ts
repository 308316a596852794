import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { expect } from 'chai';

import {
  abandonedIds,
  adoptId,
  checkPlace,
  claimPlace,
  decidePlace,
  findPlace,
  hashOf,
  ownerPath,
  readOwners,
  takeNotice,
  type PlaceDecision,
  type Owned,
} from '../../../../src/lib/platform/files/area-owner';
import { knownMachineId } from '../../../../src/lib/platform/files/machine';
import { parseOsId } from '../../../../src/lib/platform/files/os-id';
import { placePath, type Place } from '../../../../src/lib/platform/files/place';
import { machineStatePath, type PathHost } from '../../../../src/lib/platform/files/paths';
import { scratch } from '../../../helpers/scratch';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';
const C = 'cccccccccccc';
const below = (id: string): Place => `machines/${id}/`;

describe('the place of a machine in an area', () => {
  const owned = (place: Place, owner: string, os: string | null): Owned => ({
    ...{ place, owner, os, salt: 'salt' },
  });
  const top = owned('', A, 'os-a');
  const guest = owned(below(B), B, 'os-b');
  const own = { id: A, isGuest: false, place: '' as const };
  const asB = { id: B, isGuest: true, place: below(B) };

  const CASES: [
    what: string,
    owners: Owned[],
    id: string | undefined,
    os: string | undefined,
    PlaceDecision,
  ][] = [
    ['nobody owns it', [], A, 'os-a', { id: A, isGuest: false }],
    ['nobody owns it, a first run', [], undefined, 'os-a', { id: undefined, isGuest: false }],
    ['it is its own', [top, guest], A, 'os-a', own],
    ['it is its own, the system without an id', [top], A, undefined, own],
    ['it is its own, from an earlier version', [owned('', A, null)], A, 'os-a', own],
    ['a guest that is known', [top, guest], B, 'os-b', asB],
    ['a guest, the area without an owner', [guest], B, 'os-b', asB],
    ['a new guest', [top], B, 'os-b', { id: B, isGuest: true, news: 'guest' }],
    [
      'a new guest in its first run',
      [top],
      undefined,
      'os-b',
      { id: undefined, isGuest: true, news: 'guest' },
    ],
    [
      'a guest of an earlier version',
      [owned('', A, null)],
      B,
      'os-b',
      { id: B, isGuest: true, news: 'guest' },
    ],
    ['wiped state', [top, guest], undefined, 'os-a', { ...own, news: 'adopted' }],
    ['wiped state of a guest', [top, guest], undefined, 'os-b', { ...asB, news: 'adopted' }],
    ['wiped state without any id', [owned('', A, null)], undefined, undefined, { ...own, news: 'adopted' }],
    ['another state on the same system', [top], B, 'os-a', { id: B, isGuest: true, news: 'guest' }],
    ['a cloned disk', [top], A, 'os-b', { id: undefined, isGuest: true, news: 'cloned' }],
    ['a clone that was restored', [top, guest], A, 'os-b', { ...asB, news: 'adopted' }],
    [
      'wiped state of a guest that adopted the owner',
      [owned('', A, 'os-b'), guest],
      undefined,
      'os-b',
      { ...own, news: 'adopted' },
    ],
  ];
  for (const [what, owners, id, os, expected] of CASES) {
    it(`is decided: ${what}`, () => {
      const isHere = ({ os: hash }: { os: string | null }): boolean | undefined =>
        hash === null || os === undefined ? undefined : hash === os;
      expect(decidePlace(owners, { id, hasOsId: os !== undefined, isHere })).to.deep.equal(expected);
    });
  }

  it('stays where it was after it got a new id, unless another system owns that place', () => {
    const former = [A];
    const known = { id: C, former, hasOsId: true };
    expect(decidePlace([top, guest], { ...known, isHere: ({ os }) => os === 'os-a' })).to.deep.equal({
      ...own,
      id: C,
    });
    const elsewhere = decidePlace([top, guest], { ...known, isHere: () => false });
    expect(elsewhere).to.deep.equal({ id: C, isGuest: true, news: 'guest' });
  });
});

describe('an area and its machines', () => {
  const dir = scratch();
  const area = (): string => dir.path('area');
  const hostOf = (machine: string): PathHost => ({
    platform: 'linux',
    env: { XDG_STATE_HOME: dir.path(machine) },
    home: dir.path('home'),
  });
  const claim = (
    machine: string,
    os: string | undefined = `os of ${machine}`,
  ): ReturnType<typeof claimPlace> => claimPlace(area(), { host: hostOf(machine), osId: () => os });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const setId = (machine: string, id: string): void =>
    write(`${machineStatePath(hostOf(machine))}/machine-id`, `${id}\n`);

  it('belongs to the first; the others write below machines, and are told once', () => {
    const a = claim('a');
    expect(a).to.include({ place: '', owner: a.id }).and.not.to.have.property('news');
    const b = claim('b');
    expect(b).to.deep.include({ place: below(b.id), owner: a.id, news: 'guest' });
    expect(b.id).not.to.equal(a.id);
    expect(claim('b')).to.deep.equal({ place: below(b.id), id: b.id, owner: a.id });
    const notice = takeNotice(area(), hostOf('b'));
    expect(notice).to.include(`belongs to the machine ${a.id}`).and.to.include('steward sync setup FOLDER');
    expect(takeNotice(area(), hostOf('b'))).to.equal('');
    expect(findPlace(area(), hostOf('b'))).to.equal(below(b.id));
    expect(takeNotice(area(), hostOf('a'))).to.equal('');
  });

  it("doesn't show the system's id, and hashes it differently in each area", () => {
    const id = claim('a').id;
    const [owner] = readOwners(area());
    expect(readFileSync(ownerPath(area(), ''), 'utf8')).not.to.include('os of a');
    expect(owner).to.deep.include({ owner: id, os: hashOf('os of a', owner?.salt ?? '') });
    const other = dir.path('other');
    claimPlace(other, { host: hostOf('a'), osId: () => 'os of a' });
    expect(readOwners(other)[0]?.os).not.to.equal(owner?.os);
  });

  it('migrates the owner of an earlier version', () => {
    setId('a', A);
    write(ownerPath(area(), ''), JSON.stringify({ owner: A, machines: { [A]: '2026-11-20T10:00:00.000Z' } }));
    expect(claim('a')).to.deep.equal({ place: '', id: A, owner: A });
    const [owner] = readOwners(area());
    expect(owner?.os).to.equal(hashOf('os of a', owner?.salt ?? ''));
    expect(owner?.salt).to.have.length(32);
  });

  it('gives a machine with wiped state its id and place back, and says so', () => {
    const [a, b] = [claim('a'), claim('b')];
    for (const [machine, before] of [
      ['a', a],
      ['b', b],
    ] as const) {
      rmSync(dir.path(machine), { recursive: true });
      expect(claim(machine)).to.include({ place: before.place, id: before.id, news: 'adopted' });
      expect(takeNotice(area(), hostOf(machine))).to.include(`keeps its id, ${before.id}`);
    }
  });

  it('gives a cloned disk a new id, and the original keeps its own', () => {
    const a = claim('a');
    setId('clone', a.id);
    write(placePath(area(), hostOf('clone')), '\n\n');
    const clone = claim('clone');
    expect(clone.id).not.to.equal(a.id);
    expect(clone).to.include({ place: below(clone.id), news: 'cloned' });
    expect(takeNotice(area(), hostOf('clone')))
      .to.include(`The id ${a.id} belongs to another machine`)
      .and.to.include(`steward sync adopt ${a.id}`);
    expect(claim('a')).to.deep.equal(a);
  });

  it('gives an adopted id to its successor, and the machine that had it a new one', () => {
    const [a, b] = [claim('a'), claim('b')];
    const [old] = readOwners(area());
    if (old === undefined) throw new Error('no owner');
    for (let i = 0; i < 2; i += 1) {
      adoptId(area(), hostOf('b'), old);
      expect(claim('b')).to.deep.equal({ place: '', id: a.id, owner: a.id });
      expect(abandonedIds(area(), hostOf('b'))).to.deep.equal([b.id]);
    }
    const again = claim('a');
    expect(again).to.include({ place: below(again.id), news: 'cloned' });
    expect([a.id, b.id]).to.not.include(again.id);
    expect(abandonedIds(area(), hostOf('a'))).to.deep.equal([]);
  });

  it('comes to the same result after a crash at each step', () => {
    const a = claim('a');
    const b = claim('b');
    rmSync(placePath(area(), hostOf('b')));
    expect(claim('b')).to.include({ place: b.place, id: b.id });
    rmSync(placePath(area(), hostOf('b')));
    rmSync(ownerPath(area(), b.place));
    expect(claim('b')).to.include({ place: b.place, id: b.id });
    expect(knownMachineId(machineStatePath(hostOf('b')))).to.equal(b.id);
    expect(readOwners(area()).map(({ owner }) => owner)).to.deep.equal([a.id, b.id]);
  });

  it('has one owner after two first writes that a sync tool brought together', () => {
    for (const [machine, id] of [
      ['a', A],
      ['b', B],
    ] as const) {
      setId(machine, id);
      claimPlace(dir.path('alone', machine), { host: hostOf(machine), osId: () => `os of ${machine}` });
    }
    const texts = ['a', 'b'].map((machine) =>
      readFileSync(ownerPath(dir.path('alone', machine), ''), 'utf8'),
    );
    const both = `<<<<<<< HEAD\n${texts[1]}=======\n${texts[0]}>>>>>>> desk\n`;
    write(ownerPath(area(), ''), both);
    expect(claim('b')).to.include({ place: below(B), owner: A });
    expect(claim('a')).to.include({ place: '', owner: A });
  });

  it('claims nothing when it is only read', () => {
    expect(findPlace(area(), hostOf('a'))).to.equal(undefined);
    expect(checkPlace(area(), hostOf('a'), '')).to.equal(undefined);
    expect(readOwners(area())).to.deep.equal([]);
    write(ownerPath(area(), ''), 'damaged');
    expect(claim('a')).to.include({ place: '' });
    expect(readOwners(area())).to.have.length(1);
  });

  it('creates nothing again while an area and its local state are deleted', () => {
    claim('a');
    const host = hostOf('a');
    const places = [area(), machineStatePath(host)];
    claimPlace(area(), {
      host,
      osId() {
        for (const place of places) rmSync(place, { recursive: true });
        return 'os of a';
      },
    });
    expect(places.filter((place) => existsSync(place))).to.deep.equal([]);
  });
});

describe("the operating system's id", () => {
  const uuid = '1C2D3E4F-0000-1111-2222-333344445555';
  for (const [platform, text, id] of [
    ['linux', '3d1219c7c4c5404aaa1f6d2a48adfda4\n', '3d1219c7c4c5404aaa1f6d2a48adfda4'],
    ['linux', 'uninitialized\n', undefined],
    ['linux', '', undefined],
    ['linux', '00000000000000000000000000000000', undefined],
    ['darwin', `  "IOPlatformUUID" = "${uuid}"\n`, uuid.toLowerCase()],
    ['win32', `\r\n    MachineGuid    REG_SZ    ${uuid}\r\n`, uuid.toLowerCase()],
    ['freebsd', uuid, undefined],
  ] as const) {
    it(`of ${platform}: ${id ?? 'none'} in ${JSON.stringify(text)}`, () => {
      expect(parseOsId(platform, text)).to.equal(id);
    });
  }
});
