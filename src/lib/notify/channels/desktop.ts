import { dirname } from 'node:path';

import { toStewardError } from '../../errors';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../../platform/check';
import {
  isAbsentService,
  isBusError,
  missingSessionBus,
  sessionBusAddress,
  withBus,
  type Bus,
} from '../../platform/desktop/bus';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder } from '../../platform/files/folder';
import { parseObject } from '../../platform/files/json-object';
import { shortHash } from '../../platform/files/short-hash';
import type { Run } from '../../platform/process/process';
import { askPowerShell } from '../../platform/process/windows';
import { cleanLine } from '../../platform/terminal/terminal';
import type { NotifyChecked } from './channel';
import { EVENTS } from '../events';
import { escapeMarkup, short } from '../text';
import { fault, type Channel, type ChannelDeps, type Outcome, type Parcel, type Trouble } from './channel';

const TIMEOUT_MS = 5_000;
const MAX_TITLE = 120;
const MAX_BODY = 1000;

/** Shows desktop banners. Messages are never interpreted as code. */
export function desktopChannel(deps: Pick<ChannelDeps, 'platform' | 'env' | 'run' | 'banners'>): Channel {
  const { platform, env, run } = deps;
  return {
    id: 'desktop',
    keepMs: 15 * 60_000,
    joinsFrom: 4,
    off: () => noDesktop(platform, env),
    async send(parcel) {
      try {
        if (platform === 'darwin') return await onMac(run, parcel);
        return platform === 'win32' ? await onWindows(run, parcel) : await showOverBus(deps, parcel);
      } catch (error) {
        return fault(error, ['not_found']);
      }
    },
  };
}

/** Returns why no desktop can show banners here; undefined if one can. */
function noDesktop(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): Trouble | undefined {
  const isGraphical = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
  const hasDesktop =
    ['darwin', 'win32'].includes(platform) || (isGraphical && missingSessionBus(env) === undefined);
  return hasDesktop ? undefined : { reason: 'no desktop here', hint: DESKTOP_HINT };
}

const DESKTOP_HINT =
  'Run steward in a desktop session, or send pushes: `steward config set notifications.push.topic TOPIC`.';

function titleOf({ title, event }: Parcel): string {
  return short(title ?? EVENTS[event].title, MAX_TITLE);
}

function bodyOf({ message }: Parcel): string {
  const chars = [...message];
  return chars.length <= MAX_BODY ? message : `${chars.slice(0, MAX_BODY - 1).join('')}…`;
}

/** Passes the script on stdin (`-`), and the title and message as arguments. */
async function onMac(run: Run, parcel: Parcel): Promise<Outcome> {
  const input = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run\n';
  const args = ['-', titleOf(parcel), bodyOf(parcel)];
  const { code } = await run('/usr/bin/osascript', args, { timeoutMs: TIMEOUT_MS, input });
  if (code === 0) return { outcome: 'delivered' };
  const hint = 'Allow notifications from Script Editor in System Settings > Notifications.';
  return { outcome: 'again', reason: 'macOS did not show the notification.', hint };
}

/** The title and message are base64-encoded in the script, so that PowerShell can't interpret them. */
async function onWindows(run: Run, parcel: Parcel): Promise<Outcome> {
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  const silence = [
    "$a = $x.CreateElement('audio')",
    "$a.SetAttribute('silent', 'true')",
    '[void]$x.DocumentElement.AppendChild($a)',
  ];
  const script = [
    `$t = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(titleOf(parcel))}'))`,
    `$b = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(bodyOf(parcel))}'))`,
    '[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]',
    '$x = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent(1)',
    "$n = $x.GetElementsByTagName('text')",
    '[void]$n.Item(0).AppendChild($x.CreateTextNode($t))',
    '[void]$n.Item(1).AppendChild($x.CreateTextNode($b))',
    ...(parcel.silent ? silence : []),
    '$o = [Windows.UI.Notifications.ToastNotification]::new($x)',
    ...(parcel.dedupe === undefined ? [] : [`$o.Tag = 'steward-${shortHash(parcel.dedupe)}'`]),
    `[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier('${APP_ID}').Show($o)`,
    `'{"shown":true}'`,
  ].join('\n');
  try {
    await askPowerShell(run, script);
    return { outcome: 'delivered' };
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind !== 'unavailable') throw error;
    const hint = 'Allow notifications from Windows PowerShell in Settings > Notifications.';
    return { outcome: 'again', reason: message, hint };
  }
}

/** PowerShell's app id. Windows shows toasts only from registered applications. */
const APP_ID = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe';

const MAX_BANNERS = 50;
const NAME = 'org.freedesktop.Notifications';
const SERVER = { destination: NAME, path: '/org/freedesktop/Notifications', interface: NAME };
const DBUS_NAME = 'org.freedesktop.DBus';
const DBUS = { destination: DBUS_NAME, path: '/org/freedesktop/DBus', interface: DBUS_NAME };
const NO_SERVICE = {
  outcome: 'again',
  reason: 'No notification service on the message bus (D-Bus).',
  hint: 'Run steward in the graphical session, with a notification service such as dunst or mako.',
} as const satisfies Outcome;

/** Shows a banner through the desktop session's notification service (Linux and BSD). */
export async function showOverBus(
  deps: Pick<ChannelDeps, 'env' | 'banners'>,
  parcel: Parcel,
): Promise<Outcome> {
  const address = sessionBusAddress(deps.env);
  if (address === undefined) return NO_SERVICE;
  let isConnected = false;
  try {
    await withBus({ address, timeoutMs: TIMEOUT_MS }, async (bus) => {
      isConnected = true;
      await notifyOver(bus, deps.banners, parcel);
    });
    return { outcome: 'delivered' };
  } catch (error) {
    if (isAbsentService(error)) return NO_SERVICE;
    const hint = "Restart the desktop's notification service.";
    if (isBusError(error)) {
      const cause = error.cause instanceof Error ? error.cause.message : '';
      const reason = cleanLine(cause === '' ? error.type : cause, 200);
      return { outcome: 'again', reason: `The notification service returned an error: ${reason}`, hint };
    }
    if (!isConnected) throw error;
    return { outcome: 'again', reason: 'The notification service is not responding.', hint };
  }
}

async function notifyOver(bus: Bus, path: string, parcel: Parcel): Promise<void> {
  const key = parcel.dedupe === undefined ? undefined : shortHash(parcel.dedupe);
  const banners = key === undefined ? {} : readBanners(path);
  const previous = key === undefined ? undefined : banners[key];
  const isSame = previous !== undefined && previous.server === (await serverOf(bus));
  const [id] = await bus.call({
    ...SERVER,
    member: 'Notify',
    signature: 'susssasa{sv}i',
    body: [
      'steward',
      isSame ? previous.id : 0,
      '',
      titleOf(parcel),
      // Some notification services render markup in the body, so escape it.
      escapeMarkup(bodyOf(parcel)),
      [],
      [
        ['urgency', ['y', parcel.priority >= 5 ? 2 : parcel.priority <= 2 ? 0 : 1]],
        ...(parcel.silent ? [['suppress-sound', ['b', true]]] : []),
      ],
      -1,
    ],
    autoStart: true,
  });
  if (key === undefined || typeof id !== 'number') return;
  const otherBanners = Object.entries(banners).filter(([other]) => other !== key);
  const latest = [...otherBanners, [key, { id, server: (await serverOf(bus)) ?? '' }] as const];
  ensureFolder(dirname(path));
  replaceFile(path, JSON.stringify(Object.fromEntries(latest.slice(-MAX_BANNERS))));
}

/**
 * Identifies the running notification service; undefined if none is running. Notification ids are valid only
 * for the service that assigned them.
 */
async function serverOf(bus: Bus): Promise<string | undefined> {
  try {
    const [owner] = await bus.call({ ...DBUS, member: 'GetNameOwner', signature: 's', body: [NAME] });
    const [id] = await bus.call({ ...DBUS, member: 'GetId' });
    return `${String(id)} ${String(owner)}`;
  } catch (error) {
    if (isAbsentService(error)) return undefined;
    throw error;
  }
}

/** Returns the stored notification ids by hashed dedupe key, oldest first. */
function readBanners(path: string): Record<string, { id: number; server: string }> {
  const stored = parseObject(readText(path, { maxBytes: 64 * 1024 }) ?? '') ?? {};
  const isBanner = (value: unknown): value is { id: number; server: string } => {
    const { id, server } = (value ?? {}) as Record<string, unknown>;
    return Number.isInteger(id) && typeof server === 'string';
  };
  return Object.fromEntries(
    Object.entries(stored).flatMap(([key, value]) => (isBanner(value) ? [[key, value]] : [])),
  );
}

export const desktopCheck: Check<NotifyChecked> = {
  id: 'notify.desktop',
  title: 'desktop banners',
  needsConfig: true,
  run({ host, find }) {
    if (host.platform === 'darwin' || host.platform === 'win32') {
      const program = host.platform === 'darwin' ? 'osascript' : 'powershell.exe';
      return [
        find(program) === undefined ? failed(`${program} is not on the PATH`) : ok(`shown by ${program}`),
      ];
    }
    const absent = noDesktop(host.platform, host.env);
    if (absent !== undefined) return [off(absent.reason, { hint: absent.hint })];
    const address = sessionBusAddress(host.env) ?? '';
    return orFailure(() =>
      withBus({ address, timeoutMs: TIMEOUT_MS }, async (bus) => {
        const names = async (member: string): Promise<unknown[]> => {
          const [listed] = await bus.call({ ...DBUS, member });
          return Array.isArray(listed) ? listed : [];
        };
        return [judgeDesktop(await names('ListNames'), await names('ListActivatableNames'))];
      }),
    );
  },
};

export function judgeDesktop(running: readonly unknown[], startable: readonly unknown[]): Finding {
  if (running.includes(NAME)) return ok('the notification service is running');
  if (startable.includes(NAME)) return ok('the notification service starts on demand');
  return warning('no notification service on the message bus (D-Bus)', {
    hint: 'Start a notification service in your session, such as dunst or mako.',
  });
}
