import { StewardError } from '../errors';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const GRAMMAR = /^(?:\d{1,6}(?:\.\d{1,3})?[smhd])+$/;

/** `45s`, `7m`, `1h30m`, `2d` in milliseconds, more than none; anything else is `usage`. */
export function parseDuration(text: string): number {
  const wanted = text.trim().toLowerCase();
  let ms = 0;
  if (GRAMMAR.test(wanted)) {
    for (const [, number = '', unit = ''] of wanted.matchAll(/([\d.]+)([smhd])/g)) {
      ms += Number(number) * (UNITS[unit] ?? 0);
    }
  }
  if (ms > 0) return Math.round(ms);
  throw new StewardError('usage', `"${text}" is not a duration.`, {
    hint: 'Write a number and a unit (s, m, h or d), such as 45s, 7m or 1h30m.',
  });
}

/** `45 s`, `7 m`, `1 h 30 m`, `2 d`: the two largest units. */
export function durationWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
  return `${Math.floor(hours / 24)} d${hours % 24 === 0 ? '' : ` ${hours % 24} h`}`;
}
