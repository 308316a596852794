/** The text of a sessions.json with so many sessions of the past, as full as they get. */
export function manySessions(count: number, endedAt = '2026-11-01T10:00:00.000Z'): string {
  const sessions = Array.from({ length: count }, (_, index) => {
    const slug = `20261101-some-task-${String(index).padStart(8, '0')}`;
    const phases = ['native', 'observe', 'think', 'plan', 'build', 'execute', 'verify', 'learn'];
    return {
      slug,
      sessionIds: [`0f0e9d1c-8a7b-4c6d-9e5f-${String(index).padStart(12, '0')}`],
      mode: 'algorithm',
      task: 'Some task that has a title of a usual length',
      project: 'website',
      effort: 'E3',
      repo: 'website',
      phase: 'learn',
      artifact: `/home/ann/.steward/sessions/${slug}/ISA.md`,
      startedAt: '2026-11-01T08:00:00.000Z',
      updatedAt: endedAt,
      activity: 'ended',
      waitingFor: null,
      agents: [],
      phaseHistory: phases.map((phase) => ({ phase, at: '2026-11-01T09:00:00.000Z', source: 'artifact' })),
      github_issue: index + 1,
      github_issue_url: `https://example.org/issues/${index + 1}`,
      terminal: { tty: '/dev/pts/3', program: 'kitty', kittySocket: null, pid: 4242, started: '12345' },
      machine: '0123456789ab',
    };
  });
  return JSON.stringify({
    version: 1,
    cursor: { offset: 0, head: '' },
    sessions: Object.fromEntries(sessions.map((session) => [session.slug, session])),
  });
}
