import { join } from 'node:path';

import type { DaemonJob } from '../daemon/jobs';
import { toStewardError } from '../errors';
import { decisionFor, offerOf } from '../inbox/answer';
import { answerAsk, waitingAsks } from '../inbox/asks';
import type { Channel } from '../notify/channels/channel';
import type { ChannelId } from '../notify/events';
import { changePushes, type PushDeps, readPushes, type SentPush } from '../notify/pushes';
import { isLive } from '../sessions/session';
import type { Context } from './context';
import { openRunning, openSessions } from './sessions';

/** Returns the dependencies of pushes. They have buttons only if a daemon reads the answers. */
export function openPushes(context: Context, hasButtons: boolean): PushDeps {
  const { area, clock, machineId } = context;
  return {
    clock,
    machineId,
    pushes: join(area.machine, 'pushes.json'),
    async waitOf(thread) {
      const { sessions } = openRunning(context, await openSessions(context));
      const ask = waitingAsks(context).find(({ id, slug }) => id === thread || slug === thread);
      const session = sessions[thread];
      const since = session && isLive(session, clock.now()) ? session.waitingSince : undefined;
      const ids = [ask?.id ?? [], since ?? []].flat();
      const { text = '', choices = [] } = ask === undefined || !hasButtons ? {} : offerOf(ask);
      return ids.length === 0 ? undefined : { ids, text, choices };
    },
  };
}

const FROM: Readonly<Partial<Record<ChannelId, string>>> = { telegram: 'Telegram', desktop: 'a banner' };
const EVERY_SEC = 2;
const AFTER_FAILURE_SEC = 30;

/** Reads the pressed buttons of a channel's pushes, and removes the pushes whose wait is over. */
export function pushesJob(context: Context, channel: Channel): DaemonJob {
  const deps = openPushes(context, true);
  const ownPushes = () => readPushes(deps).filter((push) => push.channel === channel.id);
  let everySec = EVERY_SEC;
  return {
    id: `pushes-${channel.id}`,
    module: 'notify',
    everySec: () => everySec,
    async run() {
      everySec = AFTER_FAILURE_SEC;
      const own = ownPushes().filter(({ buttons }) => buttons.length > 0);
      const presses = own.length === 0 ? [] : ((await channel.presses?.(own)) ?? []);
      for (const { token, reply } of presses) {
        const said = await pressed(context, own, token);
        await reply?.(said);
      }
      for (const push of ownPushes()) await endIfOver(deps, channel, push);
      everySec = EVERY_SEC;
      return undefined;
    },
  };
}

/** Answers what the button's push asks, and returns what to say. An unknown token changes nothing. */
async function pressed(context: Context, pushes: readonly SentPush[], token: string): Promise<string> {
  const push = pushes.find(({ buttons }) => buttons.some((button) => button.token === token));
  const button = push?.buttons.find((one) => one.token === token);
  if (push === undefined || button === undefined) return 'It no longer waits for an answer.';
  try {
    await answerAsk(
      context,
      push.wait,
      (ask) => decisionFor(ask, button.given),
      FROM[push.channel] ?? 'a push',
    );
    return `Answered: ${button.label}`;
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind !== 'conflict') throw error;
    return message;
  }
}

async function endIfOver(deps: PushDeps, { end }: Channel, push: SentPush): Promise<void> {
  const { thread, ref, wait, message, replyTopic } = push;
  if ((await deps.waitOf(thread))?.ids.includes(wait) === true) return;
  if (ref !== undefined) await end?.(ref, `${message}\nThis no longer waits for you.`);
  await changePushes(deps, (pushes) => pushes.filter((one) => one.replyTopic !== replyTopic));
}
