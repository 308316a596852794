import { expect } from 'chai';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { sessionsAmong } from '../../../../src/lib/work/capture/session';
import { scratch } from '../../../helpers/scratch';

describe('the sessions of a sweep', () => {
  const box = scratch();
  const HOUR = 3_600_000;

  it('lists ended sessions within the window, oldest first', () => {
    const sessions = box.path('sessions');
    const nowMs = Date.now();
    const write = (name: string, hoursAgo: number, text = '---\ntask: T\n---\n'): void => {
      mkdirSync(join(sessions, name), { recursive: true });
      const path = join(sessions, name, 'ISA.md');
      writeFileSync(path, text);
      utimesSync(path, (nowMs - hoursAgo * HOUR) / 1000, (nowMs - hoursAgo * HOUR) / 1000);
    };
    write('young', 1);
    write('older', 23);
    write('too-old', 25);
    write('goes-on', 2);
    write('no-front-matter', 2, 'words');
    write('Not a slug', 2);
    mkdirSync(join(sessions, 'empty'));
    const found = (hours: number): string[] =>
      sessionsAmong(sessions, { since: nowMs - hours * HOUR, live: new Set(['goes-on']) }).map(
        ({ slug }) => slug,
      );
    expect(found(24)).to.deep.equal(['older', 'young']);
    expect(found(7 * 24)).to.deep.equal(['too-old', 'older', 'young']);
    expect(found(0.5)).to.deep.equal([]);
  });
});
