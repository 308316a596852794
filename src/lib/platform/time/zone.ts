import { existsSync, readlinkSync } from 'node:fs';

import { unless } from '../../errors';

/** What a wall clock in a zone shows. */
export interface WallClock {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

/** What the wall clock of the zone shows at an instant (ms). A name that is no zone is a RangeError. */
export function wallClock(ms: number, zone: string): WallClock {
  // The first formatter of a process costs some 15 ms, a third of a start: the own zone needs none.
  if (zone === systemZone()) {
    const local = new Date(ms);
    if (Number.isNaN(local.getTime())) throw new RangeError(`${ms} is no time.`);
    return {
      year: local.getFullYear(),
      month: local.getMonth() + 1,
      day: local.getDate(),
      hour: local.getHours(),
      minute: local.getMinutes(),
      second: local.getSeconds(),
    };
  }
  return readWallClock(formatter(zone).format(ms));
}

/** Is it the name of a time zone? */
export function isZone(zone: string): boolean {
  if (zone === systemZone()) return true;
  try {
    formatter(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * The zone that this process lives in, as an IANA name; UTC when the system names none that is known. The
 * engine reads it once, so a process keeps the zone that it was started in.
 */
export function systemZone(): string {
  const variable = process.env['TZ'];
  if (own === undefined || own.variable !== variable) {
    // The engine's own clock is fixed at the same moment, so that the two never differ.
    new Date().getTimezoneOffset();
    own = { variable, zone: zoneOfSystem(variable) ?? zoneOfEngine() };
  }
  return own.zone;
}

let own: { variable: string | undefined; zone: string } | undefined;

/** TZ, or where `/etc/localtime` points: the engine looks there too, but takes 15 ms to say what it found. */
function zoneOfSystem(variable: string | undefined): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (variable !== undefined) {
    if (variable === 'UTC') return variable;
    return AREA_AND_PLACE.test(variable) && existsSync(`/usr/share/zoneinfo/${variable}`)
      ? variable
      : undefined;
  }
  // EINVAL: a file, not a link.
  const link = unless(['ENOENT', 'EINVAL', 'EACCES'], () => readlinkSync('/etc/localtime')) ?? '';
  const name = /\/zoneinfo(?:\.default)?\/(.+)$/.exec(link)?.[1] ?? '';
  if (/^(?:Etc\/)?(?:UTC|UCT|Zulu|Universal)$/.test(name)) return 'UTC';
  return AREA_AND_PLACE.test(name) ? name : undefined;
}

const AREA_AND_PLACE =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)(?:\/[A-Za-z_-]+){1,2}$/;

function zoneOfEngine(): string {
  // Undefined or Etc/Unknown for a TZ that is no name; the engine then counts in UTC.
  const found = new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone as string | undefined;
  if (found === undefined || found === 'Etc/Unknown') return 'UTC';
  return found;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** A further formatter costs about a millisecond; a process meets one or two zones. */
function formatter(zone: string): Intl.DateTimeFormat {
  let found = formatters.get(zone);
  if (found === undefined) {
    found = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formatters.set(zone, found);
  }
  return found;
}

/** `11/20/2026, 09:42:00`: taken apart here, a third of the time that formatToParts takes. */
function readWallClock(text: string): WallClock {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
    text.match(/\d+/g)?.map(Number) ?? [];
  return { year, month, day, hour, minute, second };
}
