import { GOAL_RULES, type Goal } from './record';

/** The facts about a piece of work that goal rules are matched against. */
interface WorkFacts {
  repo: string | null;
  project: string | null;
  labels: readonly string[];
  /** The site in front, and its parent domains. */
  sites: readonly string[];
}

export interface GoalMatch {
  goal: string;
  /** The rule that matched, such as `repos: shop`. */
  reason: string;
}

/** Returns a function that finds the first goal whose rules match a piece of work. Ignores case. */
export function goalMatcher(goals: readonly Goal[]): (work: WorkFacts) => GoalMatch | undefined {
  const rules = goals.flatMap((goal) =>
    GOAL_RULES.flatMap((key) => (goal[key] ?? []).map((name) => ({ goal: goal.id, key, name }))),
  );
  return ({ repo, project, ...others }) => {
    const known = { repos: [repo ?? ''], projects: [project ?? ''], ...others };
    const rule = rules.find(({ key, name }) =>
      known[key].some((value) => value.toLowerCase() === name.toLowerCase()),
    );
    return rule === undefined ? undefined : { goal: rule.goal, reason: `${rule.key}: ${rule.name}` };
  };
}

export function hasRules(goals: readonly Goal[]): boolean {
  return goals.some((goal) => GOAL_RULES.some((key) => goal[key]));
}
