import type { HttpAnswer, RequestHead } from '../platform/net/http-application';
import { taggedAnswer, type Route, type Tagged } from './route';

/** The fields whose text a person, a prompt or a model wrote. */
const WITHHELD = new Set([
  'title',
  'subject',
  'branch',
  'worktree',
  'task',
  'givenName',
  'text',
  'ask',
  'narrative',
  'evidence',
]);

/** Tells a page that the names in a response are null. */
const HEADERS = ['steward-names', 'withheld'] as const;

/** Returns the request as a route must see it for the filter: the response is then complete and not compressed. */
export function forWholeAnswer(head: RequestHead): RequestHead {
  const headers = { ...head.headers, 'accept-encoding': undefined, 'if-none-match': undefined };
  return { ...head, headers };
}

/**
 * Returns a function that replaces titles, branches and other names in a route's JSON response by null. It keeps the last
 * document of each route.
 */
export function nameFilter(): (row: Route, head: RequestHead, answer: HttpAnswer) => HttpAnswer {
  const last = new WeakMap<Route, { whole: HttpAnswer['body']; document: Tagged }>();
  return (row, head, answer) => {
    if (answer.stream !== undefined) return answer;
    const known = last.get(row);
    if (known?.whole === answer.body) return taggedAnswer(head, known.document);
    const body = `${JSON.stringify(JSON.parse(answer.body.toString(), withheld))}\n`;
    const headers = [...answer.headers, ...HEADERS];
    const at = headers.indexOf('etag') + 1;
    if (at === 0) return { status: answer.status, headers, body };
    const etag = namelessEtag(headers[at] ?? '');
    headers[at] = etag;
    const document = { body, length: Buffer.byteLength(body), etag, headers };
    last.set(row, { whole: answer.body, document });
    return taggedAnswer(head, document);
  };
}

/** Returns the ETag of a document without names. */
export function namelessEtag(etag: string): string {
  return etag.replace(/"$/, '-n"');
}

/** Sessions have slugs; the name of anything else, such as a machine, is shown. */
function withheld(this: object, key: string, value: unknown): unknown {
  if ('slug' in this && key === 'go' && value !== null) return `steward go ${String(this.slug)}`;
  return WITHHELD.has(key) || (key === 'name' && 'slug' in this) ? null : value;
}
