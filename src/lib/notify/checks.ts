import type { Config } from '../config/schema';
import type { Secret } from '../config/secret';
import type { UserArea } from '../config/user-area';
import { dead, outboxStatus } from './outbox';
import { deadReport, deadText } from '../platform/files/graveyard';
import { muteState } from './routing';
import { sessionBusAddress, withBus } from '../platform/desktop/bus';
import { failed, NOT_ASKED, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import type { Asked, AskHost } from '../platform/net/ask-host';
import type { FindProgram } from '../platform/process/program';
import type { PathHost } from '../platform/files/paths';
import type { Clock } from '../platform/time/clock';
import { checkSpeech, type SpeechDeps } from './speech/check';

/** What the checks of notify are given. */
export interface NotifyChecked {
  clock: Clock;
  area: UserArea;
  host: PathHost;
  find: FindProgram;
  config: Pick<Config, 'settings'>;
  /** Hosts beyond this machine may be asked. */
  online: boolean;
  /** The voice may be heard. */
  sound: boolean;
  askHost: AskHost;
  /** The voice as it is configured. */
  voice: () => Promise<Omit<SpeechDeps, 'online' | 'sound'>>;
  /** The value of a secret; undefined when none is set. */
  secret: (stored: Secret) => string | undefined;
}

export const NOTIFY_CHECKS: readonly Check<NotifyChecked>[] = [
  {
    id: 'notify.voice',
    title: 'the voice',
    needsConfig: true,
    limitMs: 40_000,
    run: checkVoice,
  },
  {
    id: 'notify.desktop',
    title: 'banners of the desktop',
    needsConfig: true,
    run: checkDesktop,
  },
  { id: 'notify.push', title: 'push', needsConfig: true, limitMs: 30_000, run: checkPush },
  { id: 'notify.chat', title: 'the chat', needsConfig: true, run: checkChat },
  {
    id: 'notify.outbox',
    title: 'what waits to be delivered',
    needsConfig: true,
    run: checkOutbox,
  },
];

async function checkVoice(at: NotifyChecked): Promise<Finding[]> {
  const { clock, area, online, sound } = at;
  const { muted, until } = muteState({ clock, mute: area.mute });
  const findings = await checkSpeech({ ...(await at.voice()), online, sound });
  if (!muted) return findings;
  return [
    ...findings,
    warning(`muted ${until === null ? 'until it is taken back' : `until ${until}`}`, {
      mend: 'steward notify unmute',
    }),
  ];
}

const BUS_MS = 5_000;
const SERVICE = 'org.freedesktop.Notifications';

/** Is a notification service there? Nothing is shown. */
async function checkDesktop({ host, find }: NotifyChecked): Promise<Finding[]> {
  if (host.platform === 'darwin' || host.platform === 'win32') {
    const program = host.platform === 'darwin' ? 'osascript' : 'powershell.exe';
    return [
      find(program) === undefined ? failed(`${program} is not on the PATH`) : ok(`${program} shows them`),
    ];
  }
  const address = sessionBusAddress(host.env);
  if (address === undefined) return [off('no desktop session here: no message bus (D-Bus) is named')];
  return orFailure(async () => {
    const names = await withBus({ address, timeoutMs: BUS_MS }, async (bus) => {
      const ask = (member: string) =>
        bus.call({
          destination: 'org.freedesktop.DBus',
          path: '/org/freedesktop/DBus',
          interface: 'org.freedesktop.DBus',
          member,
        });
      const [running, startable] = await Promise.all([ask('ListNames'), ask('ListActivatableNames')]);
      return { running: listed(running), startable: listed(startable) };
    });
    return [judgeDesktop(names)];
  });
}

function listed([names]: readonly unknown[]): string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

export function judgeDesktop(names: { running: readonly string[]; startable: readonly string[] }): Finding {
  if (names.running.includes(SERVICE)) return ok('a notification service runs');
  if (names.startable.includes(SERVICE)) return ok('a notification service starts when it is needed');
  return warning('there is no notification service on the message bus (D-Bus)', {
    hint: 'Run one in your session, such as dunst or mako; desktops bring their own.',
  });
}

async function checkPush(at: NotifyChecked): Promise<Finding[]> {
  const { enabled, topic, token, server } = at.config.settings.notifications.push;
  if (!enabled) return [off('switched off', { mend: 'steward config set notifications.push.enabled true' })];
  if (!topic.isSet) {
    return [
      off('no topic is set', {
        hint: 'One that nobody guesses; then subscribe to it on your phone.',
        mend: 'steward config set notifications.push.topic "steward-$(openssl rand -hex 16)"',
      }),
    ];
  }
  if (!at.online) return [off(NOT_ASKED)];
  return orFailure(async () => {
    const root = pushServer(server).replace(/(?<!\/)\/+$/, '');
    const { hostname } = new URL(root);
    const key = at.secret(token);
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    // Asks whether the topic may be used, and publishes nothing.
    const answer = await at.askHost(`${root}/${encodeURIComponent(at.secret(topic) ?? '')}/auth`, headers);
    return [judgePushServer(hostname, answer)];
  });
}

export function judgePushServer(hostname: string, { status, text }: Pick<Asked, 'status' | 'text'>): Finding {
  if (status === 200 && /"success"\s*:\s*true/.test(text)) {
    return ok(`${hostname} takes messages of the topic`);
  }
  if (status === 401 || status === 403) {
    return failed(`${hostname} does not let the topic be used with this token`, {
      kind: 'auth',
      mend: 'steward config set notifications.push.token TOKEN',
    });
  }
  if (status === 429)
    return warning(`${hostname} asks to wait: too many requests`, { hint: 'Try again in some minutes.' });
  if (status >= 500)
    return failed(`${hostname} has trouble (${status})`, { hint: 'Try again in some minutes.' });
  return failed(`${hostname} does not answer as a push server (${status})`, {
    hint: 'Name an ntfy server:',
    mend: 'steward config set notifications.push.server HOST',
  });
}

async function checkChat(at: NotifyChecked): Promise<Finding[]> {
  const { enabled, webhook } = at.config.settings.notifications.chat;
  if (!enabled) return [off('switched off', { mend: 'steward config set notifications.chat.enabled true' })];
  if (!webhook.isSet)
    return [off('no webhook is set', { mend: 'steward config set notifications.chat.webhook URL' })];
  if (!at.online) return [off(NOT_ASKED)];
  return orFailure(async () => {
    const url = at.secret(webhook) ?? '';
    return [judgeWebhook(new URL(url).hostname, (await at.askHost(url)).status)];
  });
}

/** A GET posts nothing: some services describe the webhook, others say that they want a POST. */
export function judgeWebhook(hostname: string, status: number): Finding {
  if ([401, 403, 404, 410].includes(status)) {
    return failed(`${hostname} does not know the webhook any more (${status})`, {
      hint: 'Make a new one there, and set it:',
      mend: 'steward config set notifications.chat.webhook URL',
    });
  }
  if (status >= 500)
    return failed(`${hostname} has trouble (${status})`, { hint: 'Try again in some minutes.' });
  return ok(`${hostname} answers`);
}

function checkOutbox({ area }: NotifyChecked): Finding[] {
  const { waiting } = outboxStatus(area);
  const words = waiting === 0 ? 'nothing waits' : `${waiting} wait`;
  const graves = deadReport(dead(area));
  if (graves.count === 0) return [ok(words)];
  return [
    warning(`${words}; ${deadText(graves) ?? ''}`, {
      hint: 'See which, and have one sent again with `steward notify retry`:',
      mend: 'steward notify history',
    }),
  ];
}

/** The push server's address: a host means https. */
export function pushServer(server: string): string {
  return server.includes('://') ? server : `https://${server}`;
}
