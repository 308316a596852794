import { createInterface } from 'node:readline';

import { openPushes } from '../../../src/lib/app/pushes';
import { pushesJob } from '../../../src/lib/daemon/pushes-job';
import { StewardError } from '../../../src/lib/errors';
import { answerAsk } from '../../../src/lib/inbox/asks';
import { answersWorld } from '../answers-world';
import { parcel } from '../notify';

const [home = '', server = ''] = process.argv.slice(2);

export type Order = { send: string } | { answer: string; behavior: 'allow' | 'deny' } | { sync: number };

/** The parts of the daemon that send messages with buttons, read the presses, and take answers of the page. */
async function main(): Promise<void> {
  const { context, channel } = answersWorld(home, server);
  const job = pushesJob(context, openPushes(context, true), channel);
  const orders: Order[] = [];
  createInterface(process.stdin).on('line', (line) => orders.push(JSON.parse(line) as Order));
  for (;;) {
    for (const order of orders.splice(0)) {
      if ('send' in order)
        await channel.send(parcel({ event: 'attention', thread: order.send }), () => undefined);
      else if ('answer' in order) await answer(order.answer, order.behavior);
      else {
        await job.run();
        process.stdout.write(`${JSON.stringify(order)}\n`);
      }
    }
    await job.run();
    await new Promise((resolve) => setTimeout(resolve, 15));
  }

  async function answer(id: string, behavior: 'allow' | 'deny'): Promise<void> {
    try {
      await answerAsk(
        context,
        id,
        ({ session, input }) => {
          // The person has decided, even if this process is killed before the answer is stored.
          process.stdout.write(`${JSON.stringify({ id, behavior, session, input })}\n`);
          return { behavior, texts: [], forSession: false };
        },
        'the page',
      );
    } catch (error) {
      if (!(error instanceof StewardError && error.kind === 'conflict')) throw error;
    }
  }
}

void main();
