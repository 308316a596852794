import { groupInFile, type SharedGroup } from '../platform/files/shared-group';
import { APP_KINDS, RULE_KEYS, type ClassifyRule } from '../time/classify';
import { parseClassifyRules, withRule } from './classify-file';

/** The kinds of applications, by the key and pattern of their rules. */
export function sharedKinds(path: string): SharedGroup {
  return {
    ...groupInFile(
      path,
      async (text) => {
        const rules = await parseClassifyRules(text, path);
        return new Map(rules.reverse().map(({ key, pattern, kind }) => [`${key}:${pattern}`, [kind]]));
      },
      (text, name, value) => withRule(text, path, ruleIn(name), value?.[0] ?? null),
    ),
    isValid: (name, [kind]) =>
      RULE_KEYS.includes(ruleIn(name).key) &&
      ruleIn(name).pattern.trim() !== '' &&
      APP_KINDS.some((each) => each === kind),
  };
}

function ruleIn(name: string): Pick<ClassifyRule, 'key' | 'pattern'> {
  const [key = '', ...pattern] = name.split(':');
  return { key: key as ClassifyRule['key'], pattern: pattern.join(':') };
}
