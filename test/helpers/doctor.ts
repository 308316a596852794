import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { DoctorReport, Row } from '../../src/lib/doctor/run';
import { emptyHome, steward, type StewardResult } from './cli';

/** A home folder in which the built doctor looks. */
export interface Patient {
  path: string;
  area: string;
  /** Writes a file below the home folder, 0600. */
  write: (name: string, text: string) => string;
  /** Any command, which has to succeed. */
  run: (...args: string[]) => Promise<StewardResult>;
  /** Added to the environment of every run. */
  env: Record<string, string | undefined>;
  doctor: (...args: string[]) => Promise<{ code: number | null; report: DoctorReport }>;
  /** The rows of a check. */
  rows: (id: string, ...flags: string[]) => Promise<Row[]>;
  /** Expects one row of a check in that state, with those words, and gives it. */
  expectRow: (id: string, state: Row['state'], words: RegExp, ...flags: string[]) => Promise<Row>;
  remove: () => void;
}

export function patient(): Patient {
  const home = emptyHome();
  const at: Patient = {
    path: home.path,
    area: join(home.path, '.steward'),
    env: {},
    write(name, text) {
      const path = join(home.path, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    async run(...args) {
      const result = await steward(args, { home: home.path, env: at.env });
      expect(result.code, `${args.join(' ')}: ${result.stderr}`).to.equal(0);
      return result;
    },
    async doctor(...args) {
      const result = await steward(['doctor', ...args, '--json'], { home: home.path, env: at.env });
      expect(result.stderr).to.equal('');
      return { code: result.code, report: JSON.parse(result.stdout) as DoctorReport };
    },
    async rows(id, ...flags) {
      const { report } = await at.doctor(id.split('.')[0] ?? '', ...flags);
      return report.checks.filter((row) => row.id === id);
    },
    async expectRow(id, state, words, ...flags) {
      const rows = await at.rows(id, ...flags);
      const row = rows.find(({ found }) => words.test(found));
      expect(row, `${id} says ${JSON.stringify(rows)}`).to.include({ state });
      return row as Row;
    },
    remove: home.remove,
  };
  return at;
}

/** A hook's call that worked. How long it took is judged in a unit test: in a built program it depends on what else runs. */
export const RESPONDED = /^a hook (?:responded in|took) \d+ ms/;
