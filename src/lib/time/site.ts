import { isSite, OTHER_SITES } from '../platform/net/site';

/** The families of browsers that the extension runs in. */
export const BROWSERS = ['chromium', 'firefox'] as const;
export type Browser = (typeof BROWSERS)[number];

const IDS = ['com.google.Chrome', 'com.brave.Browser', 'com.microsoft.Edge', 'org.chromium.Chromium'];
/** Names and ids of browsers, for globs that exclude one. */
export const BROWSER_NAMES: Readonly<Record<Browser, readonly string[]>> = {
  chromium: ['Google Chrome', 'Chromium', 'Brave Browser', 'Microsoft Edge', 'Opera', 'Vivaldi', ...IDS],
  firefox: ['Firefox ESR', 'org.mozilla.firefox', 'LibreWolf', 'Waterfox', 'Floorp', 'Zen Browser'],
};

const FAMILIES: Readonly<Record<Browser, RegExp>> = {
  chromium: /^(?:chrome|chromium|brave|edge|edgemac|msedge|opera|vivaldi)$/,
  firefox: /^(?:firefox|firefoxdeveloperedition|librewolf|waterfox|floorp|zen)$/,
};
/** What else the names and ids of browsers contain, unlike "Opera Mail". */
const BESIDE =
  /^(?:google|ungoogled|microsoft|mozilla|operasoftware|com|org|app|io|net|one|ablaze|github|gitlab|community|software|desktop|exe|bin|web|internet|browser|stable|beta|dev|developer|edition|unstable|canary|nightly|snapshot|esr|gx|for|testing)$/;

/** Returns the family of an application that is a browser; undefined for a name of a site, as in a browser. */
export function browserOf(app: string, bundleId = ''): Browser | undefined {
  if (app.startsWith(siteKey('')) || siteOf(app) !== undefined) return undefined;
  const names = [app, bundleId].map((name) => name.toLowerCase().match(/[a-z]+/g) ?? []);
  return BROWSERS.find((browser) =>
    names.some((words) => {
      const others = words.filter((word) => !FAMILIES[browser].test(word));
      return others.length < words.length && others.every((word) => BESIDE.test(word));
    }),
  );
}

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
