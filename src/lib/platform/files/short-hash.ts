/** FNV-1a, eight hex digits: tells things apart that mean no harm; `node:crypto` would cost every hook 3 ms. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Twelve hex digits of two such hashes: enough for the few folders of a machine. */
export function folderHash(text: string): string {
  return `${shortHash(text)}${shortHash(`/${text}`)}`.slice(0, 12);
}

/**
 * So many random hex digits for names that have to be unlike each other, among processes too. They are no secret:
 * whoever wants one asks `node:crypto`.
 */
export function randomName(digits: number): string {
  let name = '';
  while (name.length < digits) {
    name += Math.floor(Math.random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  }
  return name.slice(0, digits);
}

/** For sorting texts by code units: the same on every machine, and without loading ICU. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
