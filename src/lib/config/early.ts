/** The neutral names of the agent types (`agents.types`), for what runs before the configuration's loader too. */
export const AGENT_TYPES = {
  general: 'general-purpose',
  explore: 'Explore',
  plan: 'Plan',
  builder: 'builder',
  toolGuide: 'tool-guide',
  researchers: ['researcher-a', 'researcher-b', 'researcher-c'],
} as const;

/**
 * The variables that stand over the files, and the key that each sets. In a file of its own: what compares them needs
 * none of the keys themselves.
 */
export const ENVIRONMENT: readonly { name: string; key: string; secret?: true }[] = [
  { name: 'STEWARD_TIMEZONE', key: 'timezone' },
  { name: 'STEWARD_MANAGED_URL', key: 'agents.managed.url' },
  { name: 'STEWARD_MANAGED_API_KEY', key: 'agents.managed.apiKey', secret: true },
  { name: 'STEWARD_MANAGED_AUTH_TOKEN', key: 'agents.managed.authToken', secret: true },
  { name: 'STEWARD_HOST', key: 'daemon.host' },
  { name: 'STEWARD_PORT', key: 'daemon.port' },
];
