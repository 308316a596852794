import { isSite } from '../platform/net/address';

/** The families of browsers that the extension runs in. */
export const BROWSERS = ['chromium', 'firefox'] as const;
export type Browser = (typeof BROWSERS)[number];

const FAMILIES: Readonly<Record<Browser, RegExp>> = {
  chromium: /(?<![a-z])(?:chrome|chromium|brave|edge|msedge|opera|vivaldi)(?![a-z])/,
  firefox: /(?<![a-z])(?:firefox|librewolf|waterfox|floorp|zen(?=[ -]browser|\n|$))(?![a-z])/,
};

/** Returns the family of an application that is a browser; undefined for a name of a site, as in a browser. */
export function browserOf(app: string, bundleId = ''): Browser | undefined {
  if (app.startsWith(siteKey('')) || siteOf(app) !== undefined) return undefined;
  const names = `${app}\n${bundleId}`.toLowerCase();
  return BROWSERS.find((browser) => FAMILIES[browser].test(names));
}

export const OTHER_SITES = 'other sites';
export const SEPARATOR = ': ';

/**
 * Returns the site in a name such as `Firefox: github.com`. A browser's time on a site counts under that name,
 * so that totals, ledgers and merged machines need no second dimension.
 */
export function siteOf(app: string): string | undefined {
  const end = app.lastIndexOf(SEPARATOR);
  const site = app.slice(end + SEPARATOR.length);
  return end > 0 && (site === OTHER_SITES || isSite(site)) ? site : undefined;
}

/** Returns the application in a name such as `Firefox: github.com`. */
export function appOf(app: string): string {
  return siteOf(app) === undefined ? app : app.slice(0, app.lastIndexOf(SEPARATOR));
}

/** A site's name in events, rules and selections. */
export function siteKey(site: string): string {
  return `site:${site}`;
}

/** Returns the names under which rules may classify an application, most specific first. */
export function classifiedNames(app: string): string[] {
  const site = app.startsWith(siteKey('')) ? app.slice(siteKey('').length) : siteOf(app);
  if (site === undefined) return [app];
  return [...domainsOf(site).map(siteKey), appOf(app)];
}

/** Returns a site and its parent domains, most specific first. */
export function domainsOf(site: string): string[] {
  return site.split('.').map((_, i, labels) => labels.slice(i).join('.'));
}
