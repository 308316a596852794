import { clean } from '../platform/terminal/terminal';
import { browserOf } from '../time/site';
import type { SourceStatus } from './source';

/** The output of `sense web status`. */
export interface WebStatus extends SourceStatus {
  /** The families of browsers whose extension has sent the code; null without a pairing. */
  paired: string[] | null;
  /** The last characters of the pairing code; null without a pairing. */
  codeEnd: string | null;
  /** The port on which the daemon listens, or null if it is not running. */
  port: number | null;
  /** The folder of the extension, or null if it is not installed. */
  folder: string | null;
}

/** The output of `sense web install`. */
export interface InstalledExtension {
  folder: string;
  code: string;
  /** The installed browsers that the extension runs in. */
  browsers: string[];
  retentionDays: number;
}

const STEPS = {
  chromium: 'open chrome://extensions, turn on "Developer mode", choose "Load unpacked" and that folder.',
  firefox:
    'open about:debugging#/runtime/this-firefox, choose "Load Temporary Add-on" and manifest.json in that folder. Firefox forgets it when it closes.',
};

export function installText({ folder, code, browsers, retentionDays }: InstalledExtension): string {
  const names = browsers.length === 0 ? ['Chrome, Chromium, Edge or Brave', 'Firefox'] : browsers;
  const steps = names.map((name) => `${clean(name)}: ${STEPS[browserOf(name) ?? 'chromium']}`);
  return `Wrote the extension to ${folder}

${steps.join('\n')}

${codeText(code)}

The name of a ticked site, or that another was in front, and when, stay for ${retentionDays} days; minutes by site stay in the daily records. Addresses, titles and private windows are never stored.`;
}

export const REMOVE_FROM_BROWSER =
  'Remove the extension from the browser too: on chrome://extensions, or in Firefox on about:addons.';

export function codeText(code: string): string {
  return `Pairing code: ${code}\nEnter it on the extension's page, and tick the sites there.`;
}

export function webText({ state, reason, paired, codeEnd, port, folder, lastEventTs }: WebStatus): string {
  return [
    `source      ${state === 'off' ? `off; ${reason ?? ''}` : 'on'}`,
    `daemon      ${port === null ? 'not running; run "steward up"' : `on port ${port}`}`,
    `extension   ${folder ?? 'not installed; run "steward sense web install"'}`,
    `paired      ${paired?.join(', ') || 'no; run "steward sense web install" and enter the code on the page'}`,
    `code        ${codeEnd === null ? 'none' : `ends in ${codeEnd}`}`,
    `last event  ${lastEventTs ?? 'none'}`,
  ].join('\n');
}
