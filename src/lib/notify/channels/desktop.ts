import SCRIPTS from '../../../../templates/data/desktop-scripts.json';
import { toStewardError } from '../../errors';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../../platform/check';
import { missingSessionBus, sessionBusAddress, withBus } from '../../platform/desktop/bus';
import { shortHash } from '../../platform/files/short-hash';
import { filled } from '../../platform/files/template';
import type { Run } from '../../platform/process/process';
import { askPowerShell } from '../../platform/process/windows';
import type { NotifyChecked } from './channel';
import { bannerButtons, NAME, TIMEOUT_MS } from './banner-buttons';
import { type BannerDeps, bodyOf, closeBanner, showOverBus, titleOf } from './banners';
import {
  fault,
  PLAIN,
  type Channel,
  type ChannelDeps,
  type Outcome,
  type Parcel,
  type Trouble,
} from './channel';

type DesktopDeps = BannerDeps & Pick<ChannelDeps, 'platform' | 'run'>;

/** Shows desktop banners. Messages are never interpreted as code. */
export function desktopChannel(deps: DesktopDeps): Channel {
  const { platform, env, run } = deps;
  const buttons = bannerButtons();
  return {
    id: 'desktop',
    keepMs: 15 * 60_000,
    joinsFrom: 4,
    off: () => noDesktop(platform, env),
    async send(parcel) {
      try {
        if (platform === 'darwin') return await onMac(run, parcel);
        return platform === 'win32' ? await onWindows(run, parcel) : await showOverBus(deps, parcel, buttons);
      } catch (error) {
        return fault(error, ['not_found']);
      }
    },
    end: (ref) => closeBanner(env, ref),
    async presses(pushes) {
      const plain = { ...PLAIN, id: '', acceptedMs: 0, event: 'attention' } as const;
      for (const { ref, thread, wait, message } of pushes) {
        if (ref === undefined || buttons.shown.has(ref)) continue;
        // The service would report to a process that has ended, so this one shows the banner again.
        const isWaiting = (await deps.pushes.waitOf(thread))?.ids.includes(wait);
        if (isWaiting)
          await showOverBus(deps, { ...plain, priority: 3, silent: true, thread, message }, buttons);
      }
      const reply = async (message: string): Promise<void> => {
        await showOverBus(deps, { ...plain, priority: 2, message }, buttons);
      };
      return buttons.take().map((token) => ({ token, reply }));
    },
  };
}

/** Returns why no desktop can show banners here; undefined if one can. */
export function noDesktop(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): Trouble | undefined {
  const isGraphical = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
  const hasDesktop =
    ['darwin', 'win32'].includes(platform) || (isGraphical && missingSessionBus(env) === undefined);
  return hasDesktop ? undefined : { reason: 'no desktop here', hint: DESKTOP_HINT };
}

const DESKTOP_HINT =
  'Without one, messages below priority 4 reach you only by push, Telegram or chat: `steward config set notifications.push.topic TOPIC`.';

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
  const values = {
    TITLE: base64(titleOf(parcel)),
    MESSAGE: base64(bodyOf(parcel)),
    TAG: `steward-${shortHash(parcel.dedupe ?? '')}`,
    APP: APP_ID,
  };
  const script = [
    ...SCRIPTS.toast,
    ...(parcel.silent ? SCRIPTS.silence : []),
    ...SCRIPTS.banner,
    ...(parcel.dedupe === undefined ? [] : SCRIPTS.tag),
    ...SCRIPTS.show,
  ].map((line) => filled(line, values));
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
        return [judgeDesktop(await bus.names('ListNames'), await bus.names('ListActivatableNames'))];
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
