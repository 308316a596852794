/**
 * Returns the FNV-1a hash as eight hex digits, for trusted input only. Loading `node:crypto` instead would
 * cost every hook 3 ms.
 */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Returns twelve hex digits of two FNV-1a hashes, which is enough to distinguish folders on one machine. */
export function folderHash(text: string): string {
  return `${shortHash(text)}${shortHash(`/${text}`)}`.slice(0, 12);
}

/** Returns random hex digits for names that must be unique across processes. Not for secrets: use `node:crypto`. */
export function randomName(digits: number): string {
  let name = '';
  while (name.length < digits) {
    name += Math.floor(Math.random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  }
  return name.slice(0, digits);
}

/** Compares strings by code unit, which gives the same order on every machine without loading ICU. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
