import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { loadHttp, type HttpLibrary } from '../../src/lib/platform/net/origin-client';
import { syncthingApi, type SyncthingApi } from '../../src/lib/sync/syncthing';
import { until } from './daemon';

/** A real Syncthing that talks to its peers over loopback only. */
export interface RealSyncthing {
  home: string;
  id: string;
  api: SyncthingApi;
  /** Changes the configuration: devices, folders. */
  config: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** The connection to the others ends or comes back. */
  pause: (isPaused: boolean) => Promise<void>;
  stop: () => Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Starts one Syncthing per home, all connected with each other. Stop each at the end. */
export async function startSyncthing(homes: readonly string[]): Promise<RealSyncthing[]> {
  const http = await loadHttp();
  const started: (RealSyncthing & { port: number })[] = [];
  for (const home of homes) started.push(await startOne(home, http));
  for (const one of started) {
    for (const { id, port } of started) {
      if (id === one.id) continue;
      const address = `tcp://127.0.0.1:${port}`;
      await one.config('POST', 'devices', { deviceID: id, name: id.slice(0, 7), addresses: [address] });
    }
  }
  return started;
}

async function startOne(home: string, http: HttpLibrary): Promise<RealSyncthing & { port: number }> {
  mkdirSync(home, { recursive: true });
  execFileSync('syncthing', ['generate', `--home=${home}`, '--no-default-folder'], { stdio: 'ignore' });
  const [gui, port] = [await freePort(), await freePort()];
  const file = join(home, 'config.xml');
  const text = readFileSync(file, 'utf8')
    .replace(/127\.0\.0\.1:8384/, `127.0.0.1:${gui}`)
    .replace(/<listenAddress>default/, `<listenAddress>tcp://127.0.0.1:${port}`)
    .replace(
      /<(globalAnnounceEnabled|localAnnounceEnabled|relaysEnabled|natEnabled|startBrowser|crashReportingEnabled)>true/g,
      '<$1>false',
    )
    .replace(/<autoUpgradeIntervalH>\d+/, '<autoUpgradeIntervalH>0')
    .replace(/<urAccepted>0/, '<urAccepted>-1')
    .replace(/<reconnectionIntervalS>\d+/, '<reconnectionIntervalS>1');
  writeFileSync(file, text);
  const apiKey = /<apikey>([^<]+)/.exec(text)?.[1] ?? '';
  const child: ChildProcess = spawn('syncthing', [`--home=${home}`, '--no-browser', '--no-restart'], {
    stdio: 'ignore',
    // One process: without this variable, it starts and watches another of itself, which survives it.
    env: { ...process.env, HOME: home, STMONITORED: 'yes', STNOUPGRADE: '1' },
  });
  const config = (method: string, path: string, body?: unknown): Promise<unknown> =>
    send({
      method,
      port: gui,
      path: `/rest/${path.startsWith('system/') ? path : `config/${path}`}`,
      apiKey,
      body,
    });
  const api = syncthingApi(
    http.origin(`http://127.0.0.1:${gui}`, { hint: 'x', name: 'Syncthing at' }),
    apiKey,
  );
  await until('Syncthing responds', async () => {
    const text = await api.get('system/status').catch(() => undefined);
    return text !== undefined;
  });
  const { myID } = JSON.parse(await api.get('system/status')) as { myID: string };
  return {
    ...{ home, id: myID, api, config, port },
    pause: async (isPaused) => {
      await config('POST', `system/${isPaused ? 'pause' : 'resume'}`);
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

interface ConfigRequest {
  method: string;
  port: number;
  path: string;
  apiKey: string;
  body: unknown;
}

function send({ method, port, path, apiKey, body }: ConfigRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (part) => (text += String(part)));
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
