/**
 * Processor time of the quickest of some runs, ms: what a loaded machine does beside, and when it lets this process
 * run, is not in it.
 */
export function quickestMs(runs: number, work: () => void): number {
  const times = Array.from({ length: runs }, () => {
    const began = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
