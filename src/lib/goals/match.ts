import type { Goal } from './record';

/** The facts about a piece of work that goal rules are matched against. */
interface WorkFacts {
  repo: string | null;
  project: string | null;
  labels: readonly string[];
}

export interface GoalMatch {
  goal: string;
  /** The rule that matched, such as `repos: shop`. */
  reason: string;
}

/** Returns a function that finds the first goal whose rules match a piece of work. Ignores case. */
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

export function hasRules(goals: readonly Goal[]): boolean {
  return goals.some(({ repos, projects, labels }) => repos ?? projects ?? labels);
}
