/**
 * The version of the sense component. Bumped on any change to the event schema,
 * the adapter contract or the daily record; test/lib/sense/fingerprint.test.ts fails when one was forgotten.
 */
export const SENSE_VERSION = '1.1.0';
