import type { Goal } from './record';

/** The facts about a piece of work to which rules apply. */
export interface WorkFacts {
  repo: string | null;
  project: string | null;
  /** Labels of the issue. */
  labels: readonly string[];
}

export interface GoalMatch {
  goal: string;
  /** The rule that matched, such as `repos: shop`. */
  reason: string;
}

/**
 * Returns a function that finds the first goal with a matching rule for a piece of work; undefined if no rule
 * matches. Ignores case.
 */
export function goalMatcher(goals: readonly Goal[]): (work: WorkFacts) => GoalMatch | undefined {
  const rules = goals.flatMap(({ id, repos = [], projects = [], labels = [] }) => [
    ...repos.map((name) => ({ goal: id, key: 'repos' as const, name })),
    ...projects.map((name) => ({ goal: id, key: 'projects' as const, name })),
    ...labels.map((name) => ({ goal: id, key: 'labels' as const, name })),
  ]);
  return ({ repo, project, labels }) => {
    const known = { repos: [repo ?? ''], projects: [project ?? ''], labels };
    const rule = rules.find(({ key, name }) =>
      known[key].some((value) => value.toLowerCase() === name.toLowerCase()),
    );
    return rule === undefined ? undefined : { goal: rule.goal, reason: `${rule.key}: ${rule.name}` };
  };
}

/** Returns whether any goal has rules. */
export function hasRules(goals: readonly Goal[]): boolean {
  return goals.some(({ repos, projects, labels }) => repos ?? projects ?? labels);
}
