import { join } from 'node:path';

import { StewardError } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import type { Clock } from '../platform/time/clock';
import { listFolder } from '../platform/files/folder';
import { refreshed, type Kept } from '../platform/files/remembered';
import { tagged, taggedAnswer, type Tagged } from './app';
import { SAFE_HEADERS } from './http-error';
import { type RawRoute } from './route';

export interface PagesDeps {
  clock: Pick<Clock, 'now'>;
  /** The folder of the pages, and that of what the build made for them. */
  pages: string;
  assets: string;
}

/** The pages, and the file of each. */
const PAGES = [
  { path: '/', file: 'index.html' },
  { path: '/sense', file: 'sense.html' },
  { path: '/work', file: 'work.html' },
  { path: '/api/work/ui', file: 'work.html' },
] as const;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

/** A page loads from this daemon alone, and stands in nobody's frame (decisions.md 8 and 9). */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ASSET = /^[a-z0-9][a-z0-9.-]*\.(css|js|svg|png)$/;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The pages and `/assets/<name>`: exactly the files that stand in two folders of the package when the daemon
 * starts; a path of a request never becomes a path of a file.
 */
export function pageRoutes(deps: PagesDeps): RawRoute[] {
  const assets = [deps.pages, deps.assets].flatMap((folder) =>
    listFolder(folder)
      .filter((name) => ASSET.test(name))
      .map((name) => ({ path: `/assets/${name}`, file: join(folder, name) })),
  );
  const names = new Map(assets.map(({ path, file }) => [path, file]));
  return [
    ...PAGES.map(({ path, file }) => fileRoute(deps, path, join(deps.pages, file))),
    ...[...names].map(([path, file]) => fileRoute(deps, path, file)),
  ];
}

function fileRoute({ clock }: PagesDeps, path: string, file: string): RawRoute {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const headers = ['content-type', type, ...SAFE_HEADERS, 'content-security-policy', PAGE_POLICY];
  let kept: Kept<Tagged> | undefined;
  return {
    method: 'GET',
    path,
    isOpen: true,
    serve({ head }) {
      kept = refreshed(clock, kept, [file], () => tagged(bytesOf(file), headers));
      return taggedAnswer(head, kept.value);
    },
  };
}

function bytesOf(file: string): Buffer {
  const bytes = readBytes(file, { maxBytes: MAX_BYTES, followLink: true });
  if (bytes !== undefined) return bytes;
  throw new StewardError('not_found', 'This page is not in the package.', {
    hint: 'Install steward again.',
  });
}
