import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect } from 'chai';

import { codex } from '../../src/lib/assistant/codex';
import { cleanEnv, emptyHome, steward } from '../helpers/cli';

interface Listed {
  data: {
    hooks: { eventName: string; timeoutSec: number; trustStatus: string }[];
    warnings: [];
    errors: [];
  }[];
}

describe('the hooks of Codex CLI (built)', function () {
  this.timeout(120_000);
  before(function () {
    if (spawnSync('codex', ['--version'], { stdio: 'ignore' }).status !== 0) this.skip();
  });

  it('are loaded by Codex without a warning, and wait for trust', async () => {
    const home = emptyHome();
    try {
      expect(
        (await steward(['hooks', 'install', '--assistant', 'codex'], { home: home.path })).code,
      ).to.equal(0);
      const [{ hooks, warnings, errors } = { hooks: [], warnings: [], errors: [] }] = (
        await listed(home.path)
      ).data;
      expect([warnings, errors]).to.deep.equal([[], []]);
      expect(hooks.map(({ eventName }) => eventName.toLowerCase())).to.have.members(
        codex.hooks.map(({ event }) => event.toLowerCase()),
      );
      for (const { trustStatus, timeoutSec } of hooks) {
        expect(trustStatus).to.equal('untrusted');
        expect(timeoutSec).to.be.within(1, 5);
      }
    } finally {
      home.remove();
    }
  });
});

/** Asks `codex app-server` which hooks it sees. */
async function listed(home: string): Promise<Listed> {
  const child = spawn('codex', ['app-server'], {
    cwd: home,
    env: cleanEnv(home),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  try {
    const clientInfo = { name: 'steward-test', version: '1' };
    send({ id: 1, method: 'initialize', params: { clientInfo, capabilities: { experimentalApi: true } } });
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line) as { id?: number; result?: Listed };
      if (id === 1) {
        send({ method: 'initialized', params: {} });
        send({ id: 2, method: 'hooks/list', params: { cwds: [home] } });
      }
      if (id === 2 && result !== undefined) return result;
    }
    throw new Error('codex ended without an answer');
  } finally {
    child.kill('SIGKILL');
  }
}
