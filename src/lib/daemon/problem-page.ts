import { isObject, parseObject, textOf } from '../platform/files/json-object';
import type { HttpAnswer, RequestHead } from '../platform/net/http-application';
import { PAGE_POLICY } from './routes';

const SHOWN: ReadonlyMap<number, string> = new Map([
  [401, 'Sign in first'],
  [403, 'Not allowed'],
  [404, 'Page not found'],
]);

/** Converts an error response to an HTML page if a browser asked for one. */
export function forPeople({ method, target, headers }: RequestHead, answer: HttpAnswer): HttpAnswer {
  const title = SHOWN.get(answer.status);
  const accept = headers['accept'];
  const isBrowser = typeof accept === 'string' && /\btext\/html\b/i.test(accept);
  if (title === undefined || !isBrowser || (method !== 'GET' && method !== 'HEAD')) return answer;
  const error = parseObject(answer.body.toString())?.['error'];
  const isPage = answer.status === 404 && !target.startsWith('/api/');
  const shown = isObject(error) && !isPage ? [error['message'], error['hint']] : [];
  const texts = shown.flatMap((text) => textOf(text) ?? []);
  return { ...answer, headers: pageHeaders(answer.headers), body: pageOf(title, ...texts) };
}

function pageHeaders(headers: readonly string[]): string[] {
  return headers.map((value, i) => {
    const name = i % 2 === 1 ? headers[i - 1] : undefined;
    if (name === 'content-type') return 'text/html; charset=utf-8';
    return name === 'content-security-policy' ? PAGE_POLICY : value;
  });
}

function pageOf(title: string, ...texts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} · steward</title>
    <link rel="stylesheet" href="/assets/steward.css" />
  </head>
  <body>
    <header class="top">
      <a class="brand" href="/">steward</a>
    </header>
    <main>
      <h1>${title}</h1>
      ${texts.map((text) => `<p>${escaped(text)}</p>`).join('\n      ')}
    </main>
  </body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
