/** What the first page asks for. The first draw does not wait for the late ones. */
export const DAY_URLS = {
  day: '/api/day',
  sessions: '/api/sessions',
  status: '/api/status',
  work: '/api/work',
};
export const LATE_URLS = {
  recent: '/api/sense/recent?days=7',
  insight: '/api/sense/insight',
  usage: '/api/usage',
};
