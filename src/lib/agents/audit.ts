import { objectIn } from './code-object';
import { escaped, findPattern, PATTERNS_BY_RULE, type RuleMatch } from './routing-match';
import type { RequestText } from './text';

/** Characters after the verb within which the audited part of the code is named. */
const REACH = 100;

/**
 * Finds a request for an audit: by its mode, or by a verb with the builder or the wish to change nothing.
 * A request that also asks for a change is not one.
 */
export function readOnlyAudit(request: RequestText, builder: string): RuleMatch {
  const mode = findPattern(request, PATTERNS_BY_RULE.crossAudit);
  if (mode.hit !== undefined) return mode;
  const audit = findPattern(request, PATTERNS_BY_RULE.audit);
  if (asksChange(request)) return {};
  const byBuilder = findBuilder(request, builder).hit;
  const isReadOnly = mayChangeNothing(request);
  if (audit.hit !== undefined) return byBuilder !== undefined || isReadOnly ? audit : {};
  return byBuilder !== undefined && isReadOnly ? { hit: byBuilder } : audit;
}

/** Finds an audit, or a review that may change nothing, of a part of the code. */
export function plainAudit(request: RequestText, effort: number | null): RuleMatch {
  if (asksChange(request)) return {};
  const audit = findPattern(request, PATTERNS_BY_RULE.audit);
  if (audit.hit !== undefined && effort !== null) return effort >= 4 ? audit : {};
  const review = audit.hit === undefined && mayChangeNothing(request);
  const { hit } = review ? findPattern(request, PATTERNS_BY_RULE.review) : audit;
  if (hit === undefined) return audit;
  const rest = request.text.slice(hit.at + hit.length, hit.at + hit.length + REACH);
  return objectIn(/^[^.;:!?\n]*/.exec(rest)?.[0] ?? '') === undefined ? {} : { hit };
}

/** Finds the builder, by its type's name or as "the builder". */
export function findBuilder(request: RequestText, builder: string): RuleMatch {
  const names = [...new Set(['builder', escaped(builder)])].join('|');
  return findPattern(request, PATTERNS_BY_RULE.builder, `(?:${names})`);
}

function asksChange(request: RequestText): boolean {
  return findPattern(request, PATTERNS_BY_RULE.change).hit !== undefined;
}

function mayChangeNothing(request: RequestText): boolean {
  return findPattern(request, PATTERNS_BY_RULE.noChange).hit !== undefined;
}
