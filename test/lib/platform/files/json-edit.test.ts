import { expect } from 'chai';
import fc from 'fast-check';

import { appendChild, applyEdits, removeChildren } from '../../../../src/lib/platform/files/json-edit';
import { parseJsonTree, type JsonNode } from '../../../../src/lib/platform/files/json-tree';
import { writeJson, writing } from '../../../helpers/settings-texts';
import { long } from '../../../helpers/long';

describe('platform: edits of JSON texts', () => {
  long('appends in the style of the neighbours, and takes away to the byte', () => {
    const content = fc.oneof(
      fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 4 }),
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), {
        minKeys: 1,
        maxKeys: 4,
        noNullPrototype: true,
      }),
    );
    fc.assert(
      fc.property(content, fc.jsonValue({ maxDepth: 2 }), writing, (value, added, how) => {
        const source = writeJson(value, how);
        const key = Array.isArray(value) ? undefined : 'a key of its own';
        const longer = applyEdits(source, [appendChild(source, containerOf(source), added, key)]);
        expect(JSON.parse(longer.replace('\ufeff', ''))).to.deep.equal(
          copyOf(Array.isArray(value) ? [...value, added] : { ...value, [key ?? '']: added }),
        );
        const last = Object.keys(value).length;
        const back = applyEdits(longer, removeChildren(longer, containerOf(longer), new Set([last])));
        expect(back).to.equal(source);
      }),
      { numRuns: 500 },
    );
  });

  long('takes any children away and leaves the others as they are', () => {
    const values = fc.array(fc.record({ value: fc.jsonValue({ maxDepth: 2 }), gone: fc.boolean() }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(values, writing, (items, how) => {
        const source = writeJson(
          items.map(({ value }) => value),
          how,
        );
        const gone = new Set(items.flatMap(({ gone: isGone }, index) => (isGone ? [index] : [])));
        const text = applyEdits(source, removeChildren(source, containerOf(source), gone));
        expect(JSON.parse(text.replace('\ufeff', ''))).to.deep.equal(
          copyOf(items.filter((item) => !item.gone).map(({ value }) => value)),
        );
        if (gone.size === 0 && items.length > 0) expect(text).to.equal(source);
      }),
      { numRuns: 500 },
    );
  });

  it('fills what is empty in the indentation of its line', () => {
    const add = (source: string, at: 'root' | 'first'): string => {
      const root = containerOf(source);
      const target = at === 'root' || root.kind === 'array' ? root : root.members[0]?.value;
      if (target === undefined || target.kind === 'scalar') throw new Error('a container is expected');
      return applyEdits(source, [
        appendChild(source, target, [1], target.kind === 'object' ? 'k' : undefined),
      ]);
    };
    expect(add('{}\n', 'root')).to.equal('{\n  "k": [\n    1\n  ]\n}\n');
    expect(add('{\r\n\t"a": []\r\n}', 'first')).to.equal(
      '{\r\n\t"a": [\r\n\t\t[\r\n\t\t\t1\r\n\t\t]\r\n\t]\r\n}',
    );
    expect(add('{"a":{}}', 'first')).to.equal('{"a":{"k":[1]}}');
    expect(add('{"a": 1, "b": 2}', 'root')).to.equal('{"a": 1, "b": 2, "k":[1]}');
  });
});

function containerOf(source: string): JsonNode {
  const tree = parseJsonTree(source);
  if ('problem' in tree || tree.root.kind === 'scalar') throw new Error('a container is expected');
  return tree.root;
}

/** -0 and undefined do not survive JSON. */
function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
