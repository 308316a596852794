import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { machineId } from '../../../../src/lib/platform/files/machine';
import { bundleChild } from '../../../helpers/bundle';
import { scratch } from '../../../helpers/scratch';

describe('platform/machine', () => {
  const box = scratch();
  const state = (): string => box.path('state', 'steward');

  it('makes an id once and keeps it', () => {
    const id = machineId(state());
    expect(id).to.match(/^[0-9a-f]{12}$/);
    expect(machineId(state())).to.equal(id);
    expect(machineId(box.path('other'))).not.to.equal(id);
  });

  it('replaces one that was damaged', () => {
    mkdirSync(state(), { recursive: true });
    for (const damaged of ['', 'no id\n', '0123456789AB\n', '../../../../..\n']) {
      writeFileSync(`${state()}/machine-id`, damaged);
      const id = machineId(state());
      expect(id).to.match(/^[0-9a-f]{12}$/);
      expect(readFileSync(`${state()}/machine-id`, 'utf8')).to.equal(`${id}\n`);
    }
  });

  it('gives all of many first runs the same id', async () => {
    const bundle = bundleChild('machine-id');
    try {
      const ids = await Promise.all(
        Array.from(
          { length: 10 },
          () =>
            new Promise<string>((resolve, reject) => {
              const child = spawn(process.execPath, [bundle.path, state()], {
                stdio: ['ignore', 'pipe', 'inherit'],
              });
              let said = '';
              child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
              child.on('error', reject).on('close', () => resolve(said));
            }),
        ),
      );
      expect(new Set(ids)).to.have.property('size', 1);
      expect(ids[0]).to.equal(machineId(state()));
    } finally {
      bundle.remove();
    }
  });
});
