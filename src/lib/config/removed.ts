/** Keys and sections that earlier versions had, each with what replaces it. */
const REMOVED: Readonly<Record<string, string>> = {
  'agents.managed.authToken': 'set the token as agents.managed.apiKey',
  'agents.managed.inputPrice': 'the service reports its costs',
  'agents.managed.outputPrice': 'the service reports its costs',
  'agents.managed.retentionDays': 'logs are kept for 90 days',
  'agents.managed.silenceSec': 'streams are reopened after 45 seconds of silence',
  'notifications.telegram.enabled': 'Telegram is on once its token and chatId are set',
  'notifications.terminal.enabled': 'leave terminal out of notifications.routing',
  'notify.voice.provider.model': "the server's default model is used",
  'notify.voice.provider.settings': "the server's settings of the voice are used",
  paths: 'make a symbolic link in the user area',
  'principal.email': 'steward does not use it',
};

/** Returns what replaces a removed key; undefined for any other key. */
export function replacementOf(key: string): string | undefined {
  return Object.hasOwn(REMOVED, key) ? REMOVED[key] : undefined;
}

/** Returns a warning about a key that steward does not know. */
export function unknownKey(key: string): string {
  const replacement = replacementOf(key);
  return replacement === undefined
    ? `${key}: unknown key, ignored`
    : `${key}: no longer a key, ignored; ${replacement}`;
}
