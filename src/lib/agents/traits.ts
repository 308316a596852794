/**
 * The trait vocabulary for briefs (service.md: Agent invocation): a menu, not a registry. `words` are what a
 * request may say instead of the trait's own name; `does` is what a brief says of whoever has it.
 */
export interface Trait<Id extends string = string> {
  id: Id;
  /** As part of a sentence: "You bring … " for expertise, "You are …" and "You work …" for the others. */
  does: string;
  /** Other words for it in a request, lower case, whole words. */
  words: readonly string[];
}

export const EXPERTISE = [
  { id: 'security', role: 'security specialist', does: 'threats, permissions, and what an attacker would try first', words: ['secure', 'attacker', 'pentester', 'hacker', 'vulnerability', 'vulnerabilities', 'threat', 'threats', 'encryption', 'passwords'] },
  { id: 'legal', role: 'legal counsel', does: 'contracts, duties, liability and regulation', words: ['lawyer', 'lawyers', 'law', 'laws', 'contract', 'contracts', 'gdpr', 'compliance', 'license', 'licence', 'attorney'] },
  { id: 'finance', role: 'financial analyst', does: 'costs, cash flow, risk and return', words: ['financial', 'accountant', 'accounting', 'budget', 'budgets', 'tax', 'taxes', 'investor', 'investors', 'investment', 'pricing', 'cfo'] },
  { id: 'medical', role: 'physician', does: 'health, evidence and safety of people', words: ['doctor', 'doctors', 'physician', 'clinical', 'clinician', 'health', 'patient', 'patients', 'nurse', 'diagnosis'] },
  { id: 'technical', role: 'senior engineer', does: 'how systems are built, run and break', words: ['engineer', 'engineers', 'engineering', 'developer', 'developers', 'programmer', 'code', 'software', 'infrastructure', 'devops', 'architecture'] },
  { id: 'research', role: 'researcher', does: 'sources, methods and the strength of evidence', words: ['researcher', 'researchers', 'academic', 'scientist', 'scientists', 'literature', 'studies', 'evidence'] },
  { id: 'creative', role: 'creative director', does: 'ideas, stories, form and taste', words: ['designer', 'designers', 'artist', 'writer', 'writers', 'novelist', 'brand', 'story', 'poet', 'naming'] },
  { id: 'business', role: 'business strategist', does: 'customers, markets, strategy and operations', words: ['marketer', 'marketing', 'sales', 'strategist', 'strategy', 'founder', 'startup', 'customer', 'customers', 'market', 'ceo', 'product'] },
  { id: 'data', role: 'data analyst', does: 'measurement, statistics and what the numbers can bear', words: ['analyst', 'analysts', 'statistician', 'statistics', 'metrics', 'numbers', 'dataset', 'datasets', 'analytics'] },
  { id: 'communications', role: 'editor', does: 'audiences, wording and what will be understood', words: ['editor', 'editors', 'journalist', 'press', 'pr', 'copywriter', 'wording', 'tone', 'audience', 'speech', 'newsletter'] },
] as const satisfies readonly (Trait & { role: string })[]; // prettier-ignore

export const PERSONALITY = [
  { id: 'skeptical', does: 'skeptical: you ask for the proof of each claim', voice: 'dry and short; questions before statements', words: ['sceptical', 'skeptic', 'sceptic', 'doubtful', 'critical', 'critic'] },
  { id: 'enthusiastic', does: 'enthusiastic: you look for what could become great', voice: 'warm and quick; the best part first', words: ['optimist', 'optimistic', 'fan', 'excited', 'champion'] },
  { id: 'cautious', does: 'cautious: you name what could go wrong before it does', voice: 'calm and measured; conditions spelled out', words: ['careful', 'conservative', 'prudent', 'risk-averse'] },
  { id: 'bold', does: 'bold: you propose the large step and defend it', voice: 'direct; one clear recommendation, no hedging', words: ['daring', 'ambitious', 'radical', 'brave'] },
  { id: 'analytical', does: 'analytical: you take things apart and weigh the parts', voice: 'neutral and exact; numbered points', words: ['analytic', 'logical', 'rational', 'quantitative'] },
  { id: 'creative', does: 'creative: you bring an angle that nobody expected', voice: 'vivid; one image or example a point', words: ['inventive', 'imaginative', 'original', 'playful'] },
  { id: 'empathetic', does: 'empathetic: you take the side of the people it touches', voice: 'plain and considerate; names who is affected', words: ['empathic', 'kind', 'compassionate', 'humane'] },
  { id: 'contrarian', does: 'contrarian: you argue the opposite of the obvious answer', voice: 'pointed; the counter-argument first', words: ['devil', 'dissenter', 'dissenting', 'provocative', 'opponent'] },
  { id: 'pragmatic', does: 'pragmatic: you ask what works on Monday morning', voice: 'matter-of-fact; next steps as verbs', words: ['practical', 'realist', 'realistic', 'hands-on'] },
  { id: 'meticulous', does: 'meticulous: you check every detail twice', voice: 'precise; places and figures quoted', words: ['precise', 'pedantic', 'detailed', 'exacting'] },
] as const satisfies readonly (Trait & { /** How it writes. */ voice: string })[]; // prettier-ignore

export const APPROACH = [
  { id: 'thorough', does: 'thoroughly: nothing that matters is left out', words: ['thoroughly', 'deep', 'exhaustive', 'complete'] },
  { id: 'rapid', does: 'rapidly: the first useful answer, then the next', words: ['rapidly', 'quick', 'quickly', 'fast', 'brief'] },
  { id: 'systematic', does: 'systematically: one part after another, by a list', words: ['systematically', 'structured', 'checklist', 'methodical'] },
  { id: 'exploratory', does: 'by exploring: wide first, then where it is interesting', words: ['explore', 'exploring', 'brainstorm', 'open-ended'] },
  { id: 'comparative', does: 'by comparing: each option against the others, on the same grounds', words: ['compare', 'comparing', 'comparison', 'versus', 'vs', 'alternatives'] },
  { id: 'synthesizing', does: 'by synthesis: what the sources say together', words: ['synthesise', 'synthesize', 'synthesis', 'combine', 'summarise', 'summarize'] },
  { id: 'adversarial', does: 'adversarially: you try to break it', words: ['attack', 'break', 'red-team', 'red', 'tear', 'stress-test', 'poke'] },
  { id: 'consultative', does: 'as a consultant: questions first, then advice with its reasons', words: ['advise', 'advice', 'advisor', 'adviser', 'consult', 'consultant', 'mentor'] },
] as const satisfies readonly Trait[]; // prettier-ignore

export type Expertise = (typeof EXPERTISE)[number]['id'];
export type Personality = (typeof PERSONALITY)[number]['id'];
export type Approach = (typeof APPROACH)[number]['id'];

export const TRAIT_FAMILIES = {
  expertise: EXPERTISE,
  personality: PERSONALITY,
  approach: APPROACH,
} as const satisfies Readonly<Record<string, readonly Trait[]>>;
export type TraitFamily = keyof typeof TRAIT_FAMILIES;

/** A person's spelling of a trait; undefined when the family has none of that name. */
export function traitNamed<F extends TraitFamily>(
  family: F,
  text: string,
): (typeof TRAIT_FAMILIES)[F][number] | undefined {
  const wanted = text.trim().toLowerCase();
  const traits: readonly Trait[] = TRAIT_FAMILIES[family];
  return traits.find(({ id }) => id === wanted) as (typeof TRAIT_FAMILIES)[F][number] | undefined;
}

/** The traits of a family that a text asks for, each once, in the order of the text. */
export function traitsIn<F extends TraitFamily>(
  family: F,
  text: string,
): (typeof TRAIT_FAMILIES)[F][number]['id'][] {
  const traits: readonly Trait[] = TRAIT_FAMILIES[family];
  const byWord = new Map(
    traits.flatMap(({ id, words }) => [id, ...words].map((word) => [word, id] as const)),
  );
  const found = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/[^\s.,;:!?"'()[\]{}/\\]+/g)) {
    const id =
      byWord.get(word) ??
      word
        .split('-')
        .map((part) => byWord.get(part))
        .find((part) => part !== undefined);
    if (id !== undefined) found.add(id);
  }
  return [...found] as (typeof TRAIT_FAMILIES)[F][number]['id'][];
}
