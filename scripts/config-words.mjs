/**
 * What each key of the configuration is for, as docs/configuration.md says it. Type, default and file come from
 * src/lib/config/schema.ts; `npm run docs` fails for a key without words, or words without a key.
 * A list holds the sentence, and words for a default whose value explains nothing.
 */
export const WORDS = {
  timezone: [
    'Your time zone. A change applies at once: today ends at midnight in the new zone, so it may be longer or shorter. Its record shows hours in the zone of the first capture.',
    "the system's",
  ],
  'principal.name': 'Your name.',
  'user.emails': "Your e-mail addresses beside git's `user.email`: commits by them are yours too.",
  'da.name':
    "The assistant's name. Its completion lines are spoken, and issues get the label `Agent:` with this name.",
  'da.voices.main.voiceId':
    "The speech provider's voice for the assistant. steward copies it to `daidentity.voices.main.voiceId`.",
  'sessions.tab': "Show the session's phase in the terminal's tab.",
  'sessions.titles':
    "Keep the first line of each session's first prompt as its title, on this machine only, without credentials.",
  'sessions.tellAssistant': 'Tell the assistant at the start of a session where its session file belongs.',
  'notify.quietHours': 'Hours in which nothing is spoken and pushes are collected into one digest.',
  'sync.details': 'Also publish commit subjects, paths and session titles to the exchange folder.',
  'usage.enabled': "`false` stops reading the assistants' logs for their token use and limits.",
  'usage.budgets':
    'What your assistants should spend at most. You are notified once at 80% and once when a budget is used up; nothing is stopped.',
  'usage.prices': "Model prices that override steward's own, in USD per million tokens.",
  'usage.priceTable': 'Where `usage prices update` gets prices.',
  'notify.turnEnd':
    'When the end of a turn sends a notification: `long` (turns longer than `notifications.thresholds.longTaskMinutes`), `always` or `never`. Errors always send one.',
  'notify.smsCommand':
    'Program that sends SMS messages for jobs. The text replaces `{message}`, or is passed on standard input.',
  'notify.voice.engine': 'Speech engine. `auto` uses the first one that works; `none` turns the voice off.',
  'notify.voice.provider.url': "Text-to-speech server with ElevenLabs' API.",
  'notify.voice.provider.apiKey':
    'API key of that server. The provider is used once a key or another server is set.',
  'agents.types.TYPE': "Your assistant's names for its types of agents; `researchers` is a list.",
  'agents.managed.url': 'Service that runs hosted agents.',
  'agents.managed.apiKey': 'API key or OAuth token of that service.',
  'daemon.host': 'Address that the daemon listens on. Any address beyond this machine requires the token.',
  'daemon.port': 'Port of the daemon; 0 picks a free one.',
  'daemon.otherUsers':
    'Answer other users of this machine over TCP. Applies to Linux; elsewhere they need the token.',
  'daemon.requireToken': [
    'Require the token, or a sign-in with "steward open", over TCP.',
    '`false` on Linux, `true` elsewhere',
  ],
  'notifications.push.enabled': 'Use the push channel.',
  'notifications.push.topic':
    'The ntfy topic. Anyone who knows it can read your pushes, so use a random one.',
  'notifications.push.server': 'The ntfy server.',
  'notifications.push.token': 'Access token, if the server requires one.',
  'notifications.push.detail':
    '`generic` sends only the kind of event; `full` sends title and text too. `answers via HOST` is `full`, and pushes by that server may show Allow and options: the server, and anyone who can read the topic, can press them too.',
  'notifications.chat.enabled': 'Use the chat channel.',
  'notifications.chat.webhook': 'Incoming webhook of Discord, Slack or any service that accepts JSON.',
  'notifications.telegram.token': 'Token of your bot, from @BotFather.',
  'notifications.telegram.chatId': 'Chat that the bot writes to.',
  'notifications.thresholds.NAME':
    'Minutes: after `longTaskMinutes`, a finished task counts as a `longTask`; after `breakMinutes`, a message stops waiting for a break.',
  'notifications.answers.enabled':
    'Hold questions and permissions of Claude Code while you are away, until you answer from elsewhere; see `steward answers setup`.',
  'notifications.answers.holdMinutes': 'The longest time that a request is held.',
  'notifications.answers.tools':
    'Tools that you may allow from elsewhere, such as `Edit`; the others you can only deny.',
  'notifications.voice.events': 'Events that are spoken. Agents, jobs, reminders and limits never are.',
  'notifications.routing.EVENT':
    'Channels for an event; the voice has its own list. With `atBreak` (not for `security` and `attention`), its banners and messages wait until you come back, change the kind of application or end a turn.',
  'sense.enabled': '`false` stops all captures.',
  'sense.pollIntervalSec': 'Seconds between captures, and the longest time that one capture counts for.',
  'sense.sources.SOURCE':
    'What is recorded: the name of the frontmost application, commits of `sense.repos`, assistant sessions, sites ticked in the browser extension.',
  'sense.repos': 'Repositories whose commits are recorded.',
  'sense.retentionDays': 'Days after which event logs are deleted. Daily records are kept.',
  'sense.idleAfterSec': 'Seconds without input after which you count as idle.',
  'sense.countsAsActive': 'Applications, such as meetings, that count even without input.',
  'sense.exclude': 'Applications and sites that are never recorded.',
  'sense.git.authors': "Whose commits count. `mine` means the repository's `user.email`.",
  'sense.git.backfillDays': 'Days of past commits and assistant sessions that setup backfills; 0 for none.',
  'sense.insight.command': ['Command that creates an insight.', 'Claude Code'],
  'sense.insight.hourly': ['Whether the daemon or the scheduled job builds an insight every hour.'],
  'WORK.KANBAN_COLUMNS': 'Lanes of the board, in order. Issues of a missing lane are shown in Queued.',
  'WORK.POLL_INTERVAL_SECONDS': "Seconds between the daemon's updates of the issues.",
  'WORK.CAPTURE_NATIVE': '`false`: sessions without a session file create no issue.',
  'WORK.CAPTURE_SWEEP': '`false` turns the sweep off.',
  'WORK.CAPTURE_PROMPT':
    'How much of a matching prompt is stored. `line`: the matching line. `whole`: up to 16,000 characters, with credentials removed.',
  'WORK.PROJECT_PROPERTY': 'Property label of each project. A project named like a Property needs no entry.',
  'WORK.repo': 'The private work repository, set and checked by `steward work setup OWNER/REPO`.',
  'WORK.enabled': '`false` turns work tracking off.',
};
