// npm run bench [-- WORD]: each figure (whose name has WORD in it) beside its yardstick; exit 1 over a limit.
import type { Figure } from './figure';
import { FIGURES as hooks } from './figures/hooks';
import { FIGURES as startUp } from './figures/start-up';
import { medians } from './measure';

const FIGURES: readonly Figure[] = [...startUp, ...hooks];

/** Without it, bare node is 30 ms faster on Node 20, and every ratio would look flattering with it. */
const env = { ...process.env };
delete env['NODE_EXTRA_CA_CERTS'];

const word = process.argv[2] ?? '';
let over = 0;
for (const figure of FIGURES.filter(({ name }) => name.includes(word))) {
  const { program, yardstick, against, remove } = figure.prepare();
  try {
    const [own = Number.NaN, base = Number.NaN] = medians(
      [program, yardstick],
      Math.max(20, figure.rounds ?? 20),
      env,
    );
    const isRatio = 'ratio' in figure.limit;
    const value = isRatio ? own / base : own - base;
    const limit = 'ratio' in figure.limit ? figure.limit.ratio : figure.limit.moreMs;
    const unit = isRatio ? '×' : ' ms more';
    const within = value <= limit;
    if (!within) over += 1;
    console.log(
      [
        within ? 'ok  ' : 'OVER',
        figure.name.padEnd(36),
        `${own.toFixed(1)} ms`.padStart(10),
        `${against} ${base.toFixed(1)} ms`.padStart(24),
        `${value.toFixed(2)}${unit}`.padStart(14),
        `limit ${limit}${unit}`,
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
