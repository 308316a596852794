import { StewardError } from '../../errors';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const GRAMMAR = /^(?:\d{1,6}(?:\.\d{1,3})?[smhd])+$/;

/** `45s`, `7m`, `1h30m`, `2d` in milliseconds, more than none; anything else is `usage`. */
export function parseDuration(text: string): number {
  const wanted = text.trim().toLowerCase();
  let ms = 0;
  if (GRAMMAR.test(wanted)) {
    for (const [, number = '', unit = ''] of wanted.matchAll(/(\d{1,6}(?:\.\d{1,3})?)([smhd])/g)) {
      ms += Number(number) * (UNITS[unit] ?? 0);
    }
  }
  if (ms > 0) return Math.round(ms);
  throw new StewardError('usage', `"${text}" is not a duration.`, {
    hint: 'Write a number and a unit (s, m, h or d), such as 45s, 7m or 1h30m.',
  });
}

// Apart from the colours, whose library asks for Node's stream of stdout: that costs a status line 4 ms.

/** `3 h 02 m`, `46 m`; rounded to whole minutes. */
export function minutes(value: number): string {
  const whole = Math.round(value);
  const hours = Math.floor(whole / 60);
  const rest = whole % 60;
  return hours === 0 ? `${rest} m` : `${hours} h ${String(rest).padStart(2, '0')} m`;
}
