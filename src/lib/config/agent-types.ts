/** The neutral names of the agent types (`agents.types`), for what runs before the configuration's loader too. */
export const AGENT_TYPES = {
  general: 'general-purpose',
  explore: 'Explore',
  plan: 'Plan',
  builder: 'builder',
  toolGuide: 'tool-guide',
  researchers: ['researcher-a', 'researcher-b', 'researcher-c'],
} as const;
