import type { Config } from '../../config/schema';
import type { Questions } from '../../platform/terminal/ask';
import type { Context } from '../../app/context';

/** The flags of `steward init`: each answer is one. Undefined: nothing was said. */
export interface InitFlags {
  name?: string | undefined;
  'da-name'?: string | undefined;
  voice?: string | undefined;
  'voice-id'?: string | undefined;
  'repos-below'?: string | undefined;
  repo?: string[] | undefined;
  sources?: string | undefined;
  'work-repo'?: string | undefined;
  'create-work-repo'?: boolean | undefined;
  push?: boolean | undefined;
  'push-test'?: boolean | undefined;
  hooks?: boolean | undefined;
  jobs?: string | undefined;
}

/** What the steps of a set-up work with. */
export interface Setup {
  context: Context;
  /** The folder of steward's package.json. */
  root: string;
  /** As it is now. */
  config: () => Config;
  /** Writes keys into the files that own them; a value that does not fit is `usage`. */
  set: (values: Readonly<Record<string, unknown>>) => Promise<void>;
  /** A line for the person. */
  say: (text: string) => void;
}

/** Does what was answered. With `questions` somebody may be asked once more. */
export type Apply = (questions?: Questions) => Promise<void>;

/** One question of the set-up: a row of the table in `steps.ts`. */
export interface Step {
  /** One word: what a person types to change it. */
  id: string;
  /** What is set now, for the table of a set-up that is there. */
  shown: (setup: Setup) => string | Promise<string>;
  /** What the flags answer; undefined: nothing. What does not fit is `usage`, before anything is written. */
  given: (setup: Setup, flags: InitFlags) => Apply | undefined;
  /** Asks on the terminal; undefined: it stays as it is. */
  ask: (setup: Setup, questions: Questions) => Promise<Apply | undefined>;
}
