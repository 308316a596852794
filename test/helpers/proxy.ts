import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** An HTTP proxy on the loopback that notes the first line of what it is asked for, and lets nothing through. */
export interface RefusingProxy {
  url: string;
  asked: string[];
  close: () => Promise<void>;
}

export async function refusingProxy(): Promise<RefusingProxy> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      asked.push(chunk.toString('latin1').split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

const NAMES = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** Runs `work` with these variables of proxies in the environment, and no other. */
export async function withProxies<T>(
  proxies: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  const kept = NAMES.map((name) => [name, process.env[name]] as const);
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const name of NAMES) set(name, proxies[name]);
  try {
    return await work();
  } finally {
    for (const [name, value] of kept) set(name, value);
  }
}
