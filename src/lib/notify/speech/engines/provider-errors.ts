import { StewardError, type ErrorKind } from '../../../errors';
import { isObject, parseObject } from '../../../platform/files/json-object';
import { clean } from '../../../platform/terminal/terminal';

const KEY_HINT =
  'Check notify.voice.provider.apiKey: `steward config set notify.voice.provider.apiKey env:NAME`.';
const LATER = 'It is tried again with a later message; until then another engine speaks, if there is one.';

/** What a status says, and what to do, in plain words. */
const STATUSES: ReadonlyMap<number, readonly [ErrorKind, string, string]> = new Map([
  [
    400,
    [
      'unavailable',
      'does not take the request',
      'Check the voice, notify.voice.provider.model and .settings.',
    ],
  ],
  [401, ['auth', 'refuses the key', KEY_HINT]],
  [
    402,
    [
      'unavailable',
      'wants to be paid for this',
      'Look at your plan there: this voice or model is not in it.',
    ],
  ],
  [403, ['auth', 'does not allow this to the key', KEY_HINT]],
  [
    404,
    ['not_found', 'does not know the voice', 'Check da.voices.main.voiceId, and notify.voice.provider.url.'],
  ],
  [
    422,
    [
      'unavailable',
      'does not take the request',
      'Check the voice, notify.voice.provider.model and .settings.',
    ],
  ],
  [429, ['unavailable', 'has had too many requests, or your quota there is used up', LATER]],
] as const);

/** The error of an answer that is not 200. */
export function refusal(
  status: number,
  body: string,
  voiceId: string,
  key: string | undefined,
): StewardError {
  const [kind, words, hint] = STATUSES.get(status) ?? byClass(status);
  const detail = hidden(detailOf(body), key);
  const voice = status === 404 ? ` ${clean(voiceId)}` : '';
  const told = detail === '' ? '' : `: ${detail}`;
  return new StewardError(kind, `The speech provider ${words}${voice} (${status})${told}.`, { hint });
}

function byClass(status: number): readonly [ErrorKind, string, string] {
  if (status >= 300 && status < 400) {
    const hint = 'Set notify.voice.provider.url to the address that it redirects to, if you trust that.';
    return ['unavailable', 'answers with a redirect, which is not followed with a key', hint];
  }
  if (status >= 500) return ['unavailable', 'has a fault of its own', LATER];
  return ['unavailable', 'does not answer as expected', 'Check notify.voice.provider.url.'];
}

/** What the provider says itself: {"detail": {"message": …}}, {"detail": …} or {"message": …}. */
function detailOf(body: string): string {
  const answer = parseObject(body);
  const detail = answer?.['detail'];
  const said = isObject(detail) ? detail['message'] : (detail ?? answer?.['message']);
  const text =
    typeof said === 'string'
      ? clean(said)
          .trim()
          .replace(/(?<!\.)\.+$/, '')
      : '';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** A server may repeat the key that it refuses. */
function hidden(text: string, key: string | undefined): string {
  return key === undefined || key === '' ? text : text.replaceAll(key, '••••');
}
