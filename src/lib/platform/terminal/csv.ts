type Cell = string | number | boolean | null | undefined;

/** Yields a table's header and rows as text chunks. */
export function* csv<T>(
  header: readonly string[],
  items: Iterable<T>,
  rowsOf: (item: T) => readonly (readonly Cell[])[],
): Generator<string> {
  yield csvLine(header);
  for (const item of items) for (const row of rowsOf(item)) yield csvLine(row);
}

/** Formats a row according to RFC 4180, with CRLF and doubled quotes. */
function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

/**
 * Formats a cell. Adds an apostrophe to text that a spreadsheet would run as a formula, as OWASP recommends.
 */
function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Matches text that a spreadsheet runs as a formula. The sign may be full-width or follow white space. */
const FORMULA = /^[\s\u0000]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
