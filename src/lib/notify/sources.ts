/** Who speaks: the assistant, one of its subagents, a job that runs by itself. Only `da` is heard. */
export const SOURCES = ['da', 'subagent', 'job'] as const;
export type Source = (typeof SOURCES)[number];
