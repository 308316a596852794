/** What an application's time counts as. Unknown ones are neutral. */
export const APP_KINDS = ['creation', 'consumption', 'neutral'] as const;
export type AppKind = (typeof APP_KINDS)[number];
