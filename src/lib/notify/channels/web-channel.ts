import { toStewardError } from '../../errors';
import type { WholeAnswer } from '../../platform/net/origin-client';
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
    trouble() {
      const posts = postsOr(service, NOTHING);
      return 'outcome' in posts ? { reason: posts.reason, hint: posts.hint } : undefined;
    },
    prepare: async () => void (await http.load()),
    async send(parcel, onPart) {
      const posts = postsOr(service, parcel);
      return 'outcome' in posts ? posts : sendParts(service, posts, parcel.sentParts, onPart);
    },
  };
}

/** What is posted; a setting that gives nothing to post is why not. */
function postsOr(service: WebService, parcel: Parcel): ReturnType<WebService['posts']> {
  try {
    return service.posts(parcel);
  } catch (error) {
    const { message, hint = 'Correct the configuration.' } = toStewardError(error);
    return { outcome: 'failed', reason: message, hint };
  }
}

/** To see whether anything could be posted. */
const NOTHING: Parcel = {
  id: '',
  acceptedMs: 0,
  event: 'taskComplete',
  priority: 3,
  message: '',
  tags: [],
  silent: false,
  count: 1,
  sentParts: 0,
};

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
