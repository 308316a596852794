import type { UserConfig } from '../config/schema';
import type { BuilderMode, ModelTier, Preferred } from './brief';
import type { Finding } from './routing-match';
import type { RequestText } from './text';
import type { Approach, Expertise, Personality } from './traits';

/** The agent types as the person's assistant calls them (`agents.types`). */
export type AgentTypes = UserConfig['agents']['types'];

/** An agent of the roster, as far as routing needs it. */
export interface NamedAgent {
  slug: string;
  name: string;
  role: string | null;
  model: ModelTier | null;
  expertise: readonly Expertise[];
  personality: readonly Personality[];
  approach: readonly Approach[];
  /** What it is launched with: its persona. */
  persona: string;
}

/** Everything that a decision depends on. */
export interface Asked {
  request: RequestText;
  /** The request as it was typed, which is what a brief holds. */
  whole: string;
  /** 1 to 5; null where nobody said. */
  effort: number | null;
  /** Agents that were asked for by `--count`. */
  count: number | null;
  named: readonly NamedAgent[];
  types: AgentTypes;
}

export type Worker = 'team' | 'custom' | 'managed' | 'builtin' | 'named' | 'research' | 'native';

/** What a rule decides. */
export interface Outcome {
  worker: Worker;
  /** Null where no agent of the task tool is launched. */
  type: (types: AgentTypes) => string | null;
  model: ModelTier;
  /** The tier whatever the effort and the words of the request. */
  fixedModel?: true;
  mode?: BuilderMode;
  /** Of the briefs; none: no brief unless several agents are asked for. */
  brief?: { role?: string; method?: string; prefer?: Preferred };
  /** Work of several at once: a spotcheck comes after it. */
  parallel?: true;
}

/** One line of the table. The first rule, from the top, that finds its words decides. */
export interface Rule {
  id: string;
  /** Where service.md says it: a number of "Agent routing rules"; or what else makes it so. */
  from: string;
  /** In words, as `--explain` shows it. */
  says: string;
  find: (asked: Asked) => Finding;
  gives: Outcome;
  /** Why its words do not hold for this request, although they are there; a warning for the person. */
  unsuitable?: (asked: Asked) => string | undefined;
}
