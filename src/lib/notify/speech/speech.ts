/** What became of a text that was to be spoken. */
export interface Spoken {
  /** It was heard to its end. */
  spoken: boolean;
  /** The engine that spoke it. */
  engine?: string;
  /** Why it was not spoken, in words for a person. */
  reason?: string;
}

/** A text for the voice, as it was sent: the transforms of pronunciation are the voice's own. */
export interface Utterance {
  text: string;
  /** The provider's voice id; the DA's voice when left out. */
  voiceId?: string;
}

/**
 * The voice (service.md: Voice; decisions.md 5): one text at a time, in order, each bounded; what waited
 * longer than a minute is not spoken any more.
 */
export interface Speech {
  /** Never throws: what could not be spoken is said in the answer. */
  say(utterance: Utterance): Promise<Spoken>;
  /** Takes no more, lets the text that is being spoken end for `graceMs`, and stops. */
  close(graceMs: number): Promise<void>;
}
