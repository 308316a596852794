import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { cleanEnv } from './cli';
import { until } from './daemon';

export interface Firefox {
  /** Sends a command of the Marionette protocol and returns its value. */
  send: (name: string, input?: object) => Promise<unknown>;
  stop: () => Promise<void>;
}

/** Nothing of its own goes beyond loopback, and the sites of the test are there. */
const SETTINGS: Readonly<Record<string, string | number | boolean>> = {
  'marionette.port': 0,
  'network.dns.localDomains': 'www.granted.test,docs.granted.test,secret-clinic.test',
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
  'network.proxy.no_proxies_on': '.granted.test,secret-clinic.test,127.0.0.1',
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
};

/** Starts Firefox without a display, in a profile of its own. */
export async function startFirefox(program: string, profile: string): Promise<Firefox> {
  mkdirSync(profile, { recursive: true });
  const lines = Object.entries(SETTINGS).map(
    ([key, value]) => `user_pref("${key}", ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const args = [
    '--marionette',
    '--remote-allow-system-access',
    '--headless',
    '--no-remote',
    '--profile',
    profile,
  ];
  const child = spawn(program, args, { env: cleanEnv(profile), stdio: 'ignore' });
  const ended = new Promise<void>((done) => child.on('exit', () => done()));
  const portFile = join(profile, 'MarionetteActivePort');
  await until('Firefox listens', () => existsSync(portFile) && readFileSync(portFile, 'utf8').trim() !== '');
  const socket = connect(Number(readFileSync(portFile, 'utf8')), '127.0.0.1');
  const pending = new Map<number, { done: (value: unknown) => void; fail: (error: Error) => void }>();
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let message = take(); message !== undefined; message = take()) {
      const [, id, error, value] = message as [number, number, unknown, unknown];
      const call = pending.get(id);
      pending.delete(id);
      if (error === null) call?.done(value);
      else call?.fail(new Error(JSON.stringify(error)));
    }
  });
  /** Takes the next whole message: its length, a colon, and JSON. The first one greets. */
  function take(): unknown {
    const colon = bytes.indexOf(':');
    const end = colon + 1 + Number(bytes.subarray(0, Math.max(0, colon)));
    if (colon < 0 || bytes.length < end) return undefined;
    const message = JSON.parse(bytes.subarray(colon + 1, end).toString()) as unknown;
    bytes = bytes.subarray(end);
    return Array.isArray(message) ? message : take();
  }
  let last = 0;
  const send = (name: string, input: object = {}): Promise<unknown> =>
    new Promise((done, fail) => {
      last += 1;
      pending.set(last, { done, fail });
      const text = JSON.stringify([0, last, name, input]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  await send('WebDriver:NewSession', {});
  return {
    send,
    async stop() {
      socket.destroy();
      child.kill();
      await ended;
    },
  };
}
