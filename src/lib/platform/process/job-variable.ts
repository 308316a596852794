/**
 * Set by the launcher of scheduled jobs for what it starts: the name of the job, and the launcher's own process where
 * that outlives it (`sense 4711`). `delivery` is what steward itself has started to go on alone (detached.ts).
 */
export const JOB_VARIABLE = 'STEWARD_JOB';
