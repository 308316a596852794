import { toStewardError } from '../../errors';
import { askPowerShell } from '../../platform/powershell';
import type { Run } from '../../platform/process';
import { shortHash } from '../../platform/short-hash';
import { EVENTS } from '../events';
import { short } from '../text';
import type { Channel, Outcome, Parcel } from './channel';

export interface DesktopDeps {
  platform: NodeJS.Platform;
  run: Run;
}

const TIMEOUT_MS = 5_000;
const MAX_TITLE = 120;
const MAX_BODY = 1000;

/** A banner of the desktop (service.md: rule 9). Texts are arguments or data, never part of a script. */
export function desktopChannel(deps: DesktopDeps): Channel {
  return {
    id: 'desktop',
    off: () => undefined,
    prepare: () => Promise.resolve(),
    async send(parcel) {
      try {
        return await show(deps, parcel);
      } catch (error) {
        const { kind, message, hint = 'Try again.' } = toStewardError(error);
        if (kind !== 'not_found') return { outcome: 'again', reason: message, hint };
        return { outcome: 'failed', reason: message, hint: MISSING[deps.platform] ?? hint };
      }
    },
  };
}

const MISSING: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'Install notify-send (Debian: apt-get install libnotify-bin).',
};

function show(deps: DesktopDeps, parcel: Parcel): Promise<Outcome> {
  if (deps.platform === 'darwin') return onMac(deps.run, parcel);
  return deps.platform === 'win32' ? onWindows(deps.run, parcel) : onFreedesktop(deps.run, parcel);
}

async function onFreedesktop(run: Run, parcel: Parcel): Promise<Outcome> {
  const urgency = parcel.priority >= 5 ? 'critical' : parcel.priority <= 2 ? 'low' : 'normal';
  const args = ['--app-name=steward', `--urgency=${urgency}`];
  if (parcel.silent) args.push('--hint=boolean:suppress-sound:true');
  if (parcel.dedupe !== undefined) {
    // Two hints that servers know for "in place of the one before".
    const key = `steward-${shortHash(parcel.dedupe)}`;
    args.push(
      `--hint=string:x-canonical-private-synchronous:${key}`,
      `--hint=string:x-dunst-stack-tag:${key}`,
    );
  }
  // Behind the two dashes nothing is an option. The body may be read as markup, and notify-send takes a backslash
  // in it for the start of an escape; the title is left alone.
  args.push('--', titleOf(parcel), escapeMarkup(bodyOf(parcel)).replaceAll('\\', '\\\\'));
  const { code, timedOut } = await run('notify-send', args, { timeoutMs: TIMEOUT_MS });
  if (code === 0) return { outcome: 'delivered' };
  return {
    outcome: 'again',
    reason: timedOut
      ? 'The notification service of the desktop does not answer.'
      : 'There is no notification service on the message bus (D-Bus).',
    hint: 'Run steward inside the graphical session, with a notification service such as dunst or mako.',
  };
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

function titleOf({ title, event }: Parcel): string {
  return short(title ?? EVENTS[event].title, MAX_TITLE);
}

function bodyOf({ message }: Parcel): string {
  const chars = [...message];
  return chars.length <= MAX_BODY ? message : `${chars.slice(0, MAX_BODY - 1).join('')}…`;
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (char) => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'));
}
