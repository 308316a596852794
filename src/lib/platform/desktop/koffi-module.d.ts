/** The part of npm `koffi` that steward uses; who wants it installs it beside steward, on Windows. */
declare module 'koffi' {
  export interface Library {
    /** A function by its prototype in C. */
    func(prototype: string): (...args: unknown[]) => unknown;
  }
  export function load(path: string): Library;
  /** The same, where Node imports it as a CommonJS module. */
  const module: { load: typeof load } | undefined;
  export default module;
}
