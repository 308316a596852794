import { createClient } from '@homebridge/dbus-native';
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, createWriteStream, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

import { run } from '../../src/lib/platform/process/process';
import type { Desktop } from '../../src/lib/sense/front-app/adapter';
import { removeFolder } from './scratch';

/** A title that must be found nowhere. */
export const SECRET = 'Secret-Payroll-2026';

/** Asks again and again until there is an answer; the time-out fails the test with what was waited for. */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The programs of one suite, in a home of its own; all are ended by `stop`, in the reverse order of their start. */
export function desktopKit() {
  const children: ChildProcess[] = [];
  const home = mkdtempSync(join(tmpdir(), 'steward-desktop-'));
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8' };

  const kit = {
    home,
    /** The environment of the session; what the desktop sets is added by its starter. */
    env,
    start(file: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
      const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...env }, ...options });
      child.stderr?.pipe(
        createWriteStream(join(home, `${children.length}-${file.replace(/\W+/g, '-')}.log`)),
      );
      children.push(child);
      return child;
    },
    /** Runs to the end; what it printed. A failure fails the test. */
    tell(file: string, ...args: string[]): string {
      const result = spawnSync(file, args, { env: { ...env }, encoding: 'utf8', timeout: 60_000 });
      if (result.status === 0) return result.stdout;
      throw new Error(
        `${file} ${args.join(' ')}: ${result.error?.message ?? ''} ${result.stderr} ${result.stdout}`,
      );
    },
    desktop: (extra: NodeJS.ProcessEnv = {}): Desktop => ({
      platform: 'linux',
      env: { ...env, ...extra },
      run,
    }),

    async end(child: ChildProcess): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
      await ended;
      clearTimeout(timer);
    },
    async stop(): Promise<void> {
      for (const child of children.splice(0).reverse()) await kit.end(child);
      removeFolder(home);
    },
  };
  return kit;
}

export type DesktopKit = ReturnType<typeof desktopKit>;

/** An X server on a free display, that does not start over (and count anew) when its last client leaves; sets DISPLAY. */
export async function startXvfb(kit: DesktopKit, ...args: string[]): Promise<ChildProcess> {
  const child = kit.start(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '800x600x24', '-nolisten', 'tcp', '-noreset', ...args],
    {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  (child.stdio[3] as Readable).on('data', (chunk: Buffer) => (said += chunk.toString()));
  const number = await until('Xvfb names its display', () => said.endsWith('\n') && said.trim());
  kit.env['DISPLAY'] = `:${number}`;
  return child;
}

const MANAGERS: Record<string, string[]> = {
  openbox: ['openbox', '--sm-disable'],
  i3: ['i3'],
  xfwm4: ['xfwm4', '--compositor=off', '--sm-client-disable'],
  kwin_x11: ['kwin_x11'],
};

export type Manager = 'openbox' | 'i3' | 'xfwm4' | 'kwin_x11';

/** A window manager, ready: it has put its name on the root window. */
export async function startManager(kit: DesktopKit, name: Manager): Promise<void> {
  const config = join(kit.home, 'i3.config');
  writeFileSync(config, 'font pango:monospace 8\nfocus_follows_mouse no\nbindsym Mod1+Return nop\n');
  const [file = name, ...args] = MANAGERS[name] ?? [];
  if (name === 'kwin_x11') {
    await startBus(kit);
    Object.assign(kit.env, { XDG_RUNTIME_DIR: kit.home, QT_QPA_PLATFORM: 'xcb' });
  }
  kit.start(file, name === 'i3' ? [...args, '-c', config] : args);
  await until(`${name} manages the display`, () =>
    spawnSync('xprop', ['-root', '_NET_SUPPORTING_WM_CHECK'], {
      env: { ...kit.env },
      encoding: 'utf8',
    }).stdout.includes('0x'),
  );
}

/** A real window of that class, with the secret in its title. */
export function startXterm(kit: DesktopKit, name: string): ChildProcess {
  return kit.start('xterm', [
    '-class',
    name,
    '-name',
    name.toLowerCase(),
    '-T',
    `${SECRET} ${name}`,
    '-e',
    'sleep',
    '600',
  ]);
}

/** A session bus of its own, which starts no services; sets DBUS_SESSION_BUS_ADDRESS. */
export async function startBus(
  kit: DesktopKit,
  variable = 'DBUS_SESSION_BUS_ADDRESS',
): Promise<ChildProcess> {
  const socket = join(kit.home, `${variable}.socket`);
  const config = join(kit.home, `${variable}.conf`);
  writeFileSync(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>\n`,
  );
  const child = kit.start('dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address=3'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let said = '';
  (child.stdio[3] as Readable).on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until('the bus listens', () => said.includes('\n'));
  kit.env[variable] = `unix:path=${socket}`;
  return child;
}

/** A headless sway with XWayland, as another user where this one is root (sway refuses root). */
export async function startSway(
  kit: DesktopKit,
): Promise<{ start: (file: string, args: string[]) => ChildProcess }> {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: 65534, gid: 65534 } : {};
  const runtime = join(kit.home, 'run');
  mkdirSync(runtime, { mode: 0o700 });
  if (isRoot) for (const path of [kit.home, runtime]) chownSync(path, 65534, 65534);
  const config = join(kit.home, 'sway.config');
  writeFileSync(
    config,
    `xwayland enable\nexec_always sh -c 'echo "$WAYLAND_DISPLAY $DISPLAY" > ${runtime}/ready'\n`,
  );
  Object.assign(kit.env, {
    XDG_RUNTIME_DIR: runtime,
    SWAYSOCK: join(runtime, 'sway.sock'),
    WLR_BACKENDS: 'headless',
    WLR_LIBINPUT_NO_DEVICES: '1',
    WLR_RENDERER: 'pixman',
    LIBSEAT_BACKEND: 'noop',
  });
  kit.start('sway', ['-c', config], user);
  // The shell creates the file before it writes the line.
  const ready = await until('sway is ready', () => {
    try {
      const line = readFileSync(join(runtime, 'ready'), 'utf8');
      return line.endsWith('\n') && line.trim();
    } catch {
      return undefined;
    }
  });
  const [wayland = '', x = ''] = ready.split(' ');
  Object.assign(kit.env, { WAYLAND_DISPLAY: wayland, DISPLAY: x });
  return { start: (file, args) => kit.start(file, args, user) };
}

interface Message {
  type: number;
  serial: number;
  sender?: string;
  path: string;
  interface: string;
  member: string;
  body: unknown[];
}

/** What the service answers a call with; a thrown error's `type` and message become the D-Bus error. */
export type Answer = (message: Message) => { signature: string; body: unknown[] };

const CALL = 1;
const RETURN = 2;
const ERROR = 3;

/** A service on the bus that answers calls by `path interface.member`; anything else is an unknown object. */
export async function serve(
  address: string,
  name: string,
  answers: Readonly<Record<string, Answer>>,
): Promise<{ close: () => void }> {
  const client = createClient({ busAddress: address, direct: true, authMethods: ['EXTERNAL'] });
  const connection = client.connection as typeof client.connection & { message: (message: object) => void };
  const onReply = connection.listeners('message')[0] as (message: Message) => void;
  connection.removeAllListeners('message');
  let serial = 1_000;
  const send = (to: Message, rest: object): void =>
    connection.message({ serial: (serial += 1), replySerial: to.serial, destination: to.sender, ...rest });
  const sendError = (to: Message, errorName: string, text: string): void =>
    send(to, { type: ERROR, errorName, signature: 's', body: [text] });
  connection.on('message', (received: Message) => {
    if (received.type !== CALL) return onReply(received);
    const message = { ...received, body: received.body ?? [] };
    const answer = answers[`${message.path} ${message.interface}.${message.member}`];
    if (answer === undefined) {
      const error = 'org.freedesktop.DBus.Error.UnknownMethod';
      return sendError(message, error, `Object does not exist at path “${message.path}”`);
    }
    try {
      send(message, { type: RETURN, ...answer(message) });
    } catch (error) {
      const type = (error as { type?: string }).type ?? 'org.gnome.gjs.JSError.Error';
      sendError(message, type, (error as Error).message);
    }
  });
  await busCall(client, 'Hello', '', []);
  await busCall(client, 'RequestName', 'su', [name, 0]);
  return { close: () => connection.stream.destroy() };
}

function busCall(
  client: ReturnType<typeof createClient>,
  member: string,
  signature: string,
  body: unknown[],
): Promise<void> {
  const bus = 'org.freedesktop.DBus';
  const message = {
    destination: bus,
    path: '/org/freedesktop/DBus',
    interface: bus,
    member,
    signature,
    body,
  };
  return new Promise((resolve, reject) =>
    client.invoke(message, (error) => (error ? reject(new Error(error.message)) : resolve())),
  );
}
