// npm run bench [-- WORD]: compares the figures with WORD in their names with their baselines; exit 1 over a limit.
import type { Figure, Limit } from './figure';
import { FIGURES as agents } from './figures/agents';
import { FIGURES as hooks } from './figures/hooks';
import { FIGURES as machines } from './figures/machines';
import { FIGURES as notify } from './figures/notify';
import { FIGURES as sense } from './figures/sense';
import { FIGURES as startUp } from './figures/start-up';
import { FIGURES as work } from './figures/work';
import { SWEEP } from './figures/work-sweep';
import { medians, peakMemory, time } from './measure';

const FIGURES: readonly Figure[] = [
  ...startUp,
  ...sense,
  ...hooks,
  ...agents,
  ...machines,
  ...notify,
  ...work,
  SWEEP,
];

/** Drops NODE_EXTRA_CA_CERTS, which slows bare node by 30 ms on Node 20 and would make every ratio look better. */
const env = { ...process.env };
delete env['NODE_EXTRA_CA_CERTS'];

const word = process.argv[2] ?? '';
let over = 0;
for (const figure of FIGURES.filter(({ name }) => name.includes(word))) {
  const { program, yardstick, against, remove } = figure.prepare();
  try {
    const { limit } = figure;
    const [own = Number.NaN, base = Number.NaN] = medians(
      [program, yardstick],
      Math.max(20, figure.rounds ?? 20),
      env,
      'mib' in limit ? peakMemory : time,
    );
    const { value, most, unit } = judged(limit, own, base);
    const within = value <= most;
    if (!within) over += 1;
    console.log(
      [
        within ? 'ok  ' : 'OVER',
        figure.name.padEnd(36),
        `${own.toFixed(1)} ${'mib' in limit ? 'MiB' : 'ms'}`.padStart(10),
        `${against} ${base.toFixed(1)}`.padStart(20),
        `${value.toFixed(2)}${unit}`.padStart(14),
        `limit ${most}${unit}`,
      ].join('  '),
    );
  } finally {
    remove?.();
  }
}
if (over > 0) {
  console.error(`${over} of the figures ${over === 1 ? 'is' : 'are'} over the limit.`);
  process.exitCode = 1;
}

function judged(limit: Limit, own: number, base: number): { value: number; most: number; unit: string } {
  if ('ratio' in limit) return { value: own / base, most: limit.ratio, unit: '×' };
  if ('moreMs' in limit) return { value: own - base, most: limit.moreMs, unit: ' ms more' };
  if ('ms' in limit) return { value: own, most: limit.ms, unit: ' ms' };
  return { value: own, most: limit.mib, unit: ' MiB' };
}
