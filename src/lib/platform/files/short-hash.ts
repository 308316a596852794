/**
 * Returns the FNV-1a hash as eight hex digits. Not safe for untrusted input. Avoids `node:crypto`, which
 * takes 3 ms to load.
 */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/**
 * Returns a hash of twelve hex digits from two FNV-1a hashes, enough to distinguish folders on one machine.
 */
export function folderHash(text: string): string {
  return `${shortHash(text)}${shortHash(`/${text}`)}`.slice(0, 12);
}

/** Returns random hex digits for unique names. For secrets, use `node:crypto`. */
export function randomName(digits: number): string {
  let name = '';
  while (name.length < digits) {
    name += Math.floor(Math.random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  }
  return name.slice(0, digits);
}

/** Compares strings by UTF-16 code unit, so that the order is the same on every machine. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
