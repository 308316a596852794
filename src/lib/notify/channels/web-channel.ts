import { toStewardError } from '../../errors';
import type { WholeAnswer } from '../../platform/origin-client';
import type { Channel, Outcome, Parcel } from './channel';
import { postOnce, type Http } from './http-outcome';

/** A service that messages are posted to as JSON: what the push and the chat channel have in common. */
export interface WebService {
  id: 'push' | 'chat';
  http: Http;
  enabled: () => boolean;
  /** Why nothing can be sent although it is switched on; undefined when nothing is missing. */
  missing: () => { reason: string; hint: string } | undefined;
  /** What a parcel is posted as, part by part; or why it never will be. A broken setting may be thrown as `config`. */
  posts: (parcel: Parcel) => Posts | Extract<Outcome, { outcome: 'failed' }>;
  /** What an answer means by the service's own rules; undefined: by its status alone. */
  judge: (answer: WholeAnswer) => Outcome | undefined;
}

export interface Posts {
  /** It may be a secret. */
  url: string;
  parts: readonly { body: unknown; headers?: Readonly<Record<string, string>> }[];
}

export function webChannel(service: WebService): Channel {
  const { id, http } = service;
  return {
    id,
    off() {
      if (service.enabled()) return service.missing();
      const hint = `Switch it on with \`steward config set notifications.${id}.enabled true\`.`;
      return { reason: 'switched off', hint };
    },
    prepare: async () => void (await http.load()),
    async send(parcel, onPart) {
      try {
        const posts = service.posts(parcel);
        return 'outcome' in posts ? posts : await sendParts(service, posts, parcel.sentParts, onPart);
      } catch (error) {
        const { message, hint = 'Correct the configuration.' } = toStewardError(error);
        return { outcome: 'failed', reason: message, hint };
      }
    },
  };
}

/** From the first part on that is not out yet, until one is not taken. */
async function sendParts(
  { http, judge }: WebService,
  { url, parts }: Posts,
  sentParts: number,
  onPart: (sent: number) => void,
): Promise<Outcome> {
  for (const [index, part] of parts.entries()) {
    if (index < sentParts) continue;
    const outcome = await postOnce(http, { url, ...part }, judge);
    if (outcome.outcome !== 'delivered') return outcome;
    if (parts.length > 1) onPart(index + 1);
  }
  return { outcome: 'delivered' };
}
