/** The values of sense/config.json (service.md: Sense configuration file; decisions.md 3), resolved. */
export interface SenseConfig {
  /** false is the kill switch: nothing is captured. */
  enabled: boolean;
  pollIntervalSec: number;
  sources: { appFocus: boolean; git: boolean; agentSession: boolean };
  /** Absolute paths. */
  repos: string[];
  retentionDays: number;
  /** Seconds without input after which a person is away. */
  idleAfterSec: number;
  /** Apps that count even when idle (meetings, video): names, bundle ids, or globs. */
  countsAsActive: string[];
  /** Apps that are never written: names, bundle ids, or globs. */
  exclude: string[];
  git: { authors: 'mine' | 'all' | string[] };
}

/** config.yaml, resolved. */
export interface UserConfig {
  /** IANA zone; the system's where the file does not say. */
  timezone: string;
  paths: { sessions: string; goals: string; projects: string; workEvents: string };
}

/** Everything that the one loader reads (decisions.md 1). */
export interface Config {
  user: UserConfig;
  sense: SenseConfig;
}
