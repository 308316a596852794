import { toStewardError } from '../../errors';
import { askPowerShell } from '../../platform/process/powershell';
import type { Run } from '../../platform/process/process';
import { shortHash } from '../../platform/files/short-hash';
import { bodyOf, titleOf } from './banner-text';
import type { Channel, Outcome, Parcel } from './channel';
import { busTrouble, showOverBus, type FreedesktopDeps } from './freedesktop';

export interface DesktopDeps extends FreedesktopDeps {
  platform: NodeJS.Platform;
  run: Run;
}

const TIMEOUT_MS = 5_000;

/** A banner of the desktop. Texts are arguments or data, never part of a script. */
export function desktopChannel(deps: DesktopDeps): Channel {
  return {
    id: 'desktop',
    off: () => undefined,
    trouble: () => (['darwin', 'win32'].includes(deps.platform) ? undefined : busTrouble(deps.env)),
    prepare: () => Promise.resolve(),
    async send(parcel) {
      try {
        return await show(deps, parcel);
      } catch (error) {
        const { kind, message, hint = 'Try again.' } = toStewardError(error);
        return { outcome: kind === 'not_found' ? 'failed' : 'again', reason: message, hint };
      }
    },
  };
}

function show(deps: DesktopDeps, parcel: Parcel): Promise<Outcome> {
  if (deps.platform === 'darwin') return onMac(deps.run, parcel);
  return deps.platform === 'win32' ? onWindows(deps.run, parcel) : showOverBus(deps, parcel);
}

/** The script comes on stdin and the texts as its arguments: `-` is the end of osascript's own options. */
async function onMac(run: Run, parcel: Parcel): Promise<Outcome> {
  const input = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run\n';
  const args = ['-', titleOf(parcel), bodyOf(parcel)];
  const { code } = await run('/usr/bin/osascript', args, { timeoutMs: TIMEOUT_MS, input });
  if (code === 0) return { outcome: 'delivered' };
  return {
    outcome: 'again',
    reason: 'The notification could not be shown.',
    hint: 'Allow notifications of Script Editor in the system settings, under Notifications.',
  };
}

/** The texts are base64 within the script, and text nodes in the toast. */
async function onWindows(run: Run, parcel: Parcel): Promise<Outcome> {
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  const script = [
    `$t = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(titleOf(parcel))}'))`,
    `$b = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(bodyOf(parcel))}'))`,
    '[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]',
    '$x = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent(1)',
    "$n = $x.GetElementsByTagName('text')",
    '[void]$n.Item(0).AppendChild($x.CreateTextNode($t))',
    '[void]$n.Item(1).AppendChild($x.CreateTextNode($b))',
    ...(parcel.silent
      ? [
          "$a = $x.CreateElement('audio')",
          "$a.SetAttribute('silent', 'true')",
          '[void]$x.DocumentElement.AppendChild($a)',
        ]
      : []),
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
    // Its own hint is for what can be asked without PowerShell.
    const hint = 'Allow notifications of Windows PowerShell in the system settings, under Notifications.';
    return { outcome: 'again', reason: message, hint };
  }
}

/** Toasts need an application that Windows knows: PowerShell's own. */
const APP_ID = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe';
