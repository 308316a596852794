import type { Machine } from '../config/user-area';
import { toStewardError } from '../errors';
import { decisionFor } from '../inbox/answer';
import { answerAsk } from '../inbox/asks';
import type { Channel } from '../notify/channels/channel';
import type { ChannelId } from '../notify/events';
import { changePushes, readPushes, type PushDeps, type SentPush } from '../notify/pushes';
import type { DaemonJob } from './jobs';

const FROM: Readonly<Partial<Record<ChannelId, string>>> = { telegram: 'Telegram', desktop: 'a banner' };
const EVERY_SEC = 2;
const AFTER_FAILURE_SEC = 30;

/** Reads the pressed buttons of a channel's pushes, and removes the pushes whose wait is over. */
export function pushesJob(machine: Machine, deps: PushDeps, channel: Channel): DaemonJob {
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
        const said = await pressed(machine, own, token);
        await reply?.(said);
      }
      for (const push of ownPushes()) await endIfOver(deps, channel, push);
      everySec = EVERY_SEC;
      return undefined;
    },
  };
}

/** Answers what the button's push asks, and returns what to say. An unknown token changes nothing. */
async function pressed(machine: Machine, pushes: readonly SentPush[], token: string): Promise<string> {
  const push = pushes.find(({ buttons }) => buttons.some((button) => button.token === token));
  const button = push?.buttons.find((one) => one.token === token);
  if (push === undefined || button === undefined) return 'It no longer waits for an answer.';
  try {
    await answerAsk(
      machine,
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
