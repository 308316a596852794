import type { Goal } from './record';

/** What is known of a piece of work. */
export interface WorkFacts {
  repo: string | null;
  project: string | null;
  /** The labels of its issue. */
  labels: readonly string[];
}

export interface GoalMatch {
  goal: string;
  /** The rule that matched: `repos: shop`. */
  reason: string;
}

/**
 * Returns a function that finds the goal of a piece of work: the first goal in the file with a rule that matches, ignoring
 * case; undefined if none does.
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

/** Whether any goal has rules. */
export function hasRules(goals: readonly Goal[]): boolean {
  return goals.some(({ repos, projects, labels }) => repos ?? projects ?? labels);
}
