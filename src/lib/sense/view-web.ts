import type { SourceStatus } from './source';

/** The output of `sense web status`. */
export interface WebStatus extends SourceStatus {
  /** The families of browsers whose extension has sent the code; null without a pairing. */
  paired: string[] | null;
  /** The folder of the extension, or null if it is not installed. */
  folder: string | null;
}

export function installText({ folder, code }: { folder: string; code: string }): string {
  return `Wrote the extension to ${folder}

Chrome, Chromium, Edge, Brave: open chrome://extensions, turn on "Developer mode", choose "Load unpacked" and that folder.
Firefox: open about:debugging#/runtime/this-firefox, choose "Load Temporary Add-on" and manifest.json in that folder. Firefox forgets it when it closes.

${codeText(code)}`;
}

export function codeText(code: string): string {
  return `Pairing code: ${code}\nEnter it on the extension's page, and tick the sites there.`;
}

export function webText({ enabled, paired, folder, lastEventTs }: WebStatus): string {
  return [
    `source      ${enabled ? 'on' : 'off; turn it on with "steward config set sense.sources.web true"'}`,
    `extension   ${folder ?? 'not installed; run "steward sense web install"'}`,
    `paired      ${paired === null ? 'no' : paired.join(', ') || 'the code was not used yet'}`,
    `last event  ${lastEventTs ?? 'none'}`,
  ].join('\n');
}
