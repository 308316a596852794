/** Returns Node's `node:crypto`. Loads it on first use, because that takes 4 ms. */
export function crypto() {
  return process.getBuiltinModule('node:crypto');
}
