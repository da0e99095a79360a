// Inputs made from samples: values with parts that no client would send, and their text with damage.
import fc, { type Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../../src/kubernetes/index.ts';

/** Values that decoders tend to forget. */
const oddValue: Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Json[]>(null, true, '', 0, -1, 0.1, 1e308, 2 ** 53, [], {}, [null], 'null') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '__proto__',
      'a'.repeat(70_000),
      '../../x',
      'a/b#c?d',
      '\u0000',
      '\ud800',
      '\u202e',
      '1e999',
    ),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3, noUnicodeString: false }) as Arbitrary<Json> },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 1, max: 300 })
      .map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as Json),
  },
);
const oddKey = fc.constantFrom('__proto__', 'constructor', 'toString', '', 'a'.repeat(300), 'KIND', 'x/y', '\u0000');

type Holder = JsonObject | Json[];

/** Every object and list in a value. */
function holdersIn(value: Json): Holder[] {
  const holders: Holder[] = [];
  const remaining: Json[] = [value];
  for (let one = remaining.pop(); one !== undefined; one = remaining.pop()) {
    if (typeof one === 'object' && one !== null) {
      holders.push(one);
      remaining.push(...Object.values(one));
    }
  }
  return holders;
}

interface Change {
  kind: 'replace' | 'remove' | 'add' | 'repeat';
  holder: number;
  member: number;
  key: string;
  value: Json;
}

const change: Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat'),
  holder: fc.nat({ max: 10_000 }),
  member: fc.nat({ max: 10_000 }),
  key: oddKey,
  value: oddValue,
});

function apply(root: Json, { kind, holder, member, key, value }: Change): void {
  const copy = structuredClone(value);
  const holders = holdersIn(root);
  const place = holders[holder % Math.max(1, holders.length)];
  if (place === undefined) {
    return;
  }
  const keys = Object.keys(place);
  const at = keys[member % Math.max(1, keys.length)] ?? key;
  const set = (name: string, item: Json) =>
    Object.defineProperty(place, name, { value: item, enumerable: true, configurable: true, writable: true });
  if (Array.isArray(place)) {
    const items = kind === 'remove' ? [] : [kind === 'repeat' ? structuredClone(place[0] ?? null) : copy];
    place.splice(member % (place.length + 1), kind === 'add' ? 0 : 1, ...items);
  } else if (kind === 'remove') {
    Reflect.deleteProperty(place, at);
  } else {
    set(kind === 'add' ? key : at, copy);
  }
}

/** A sample with up to eight changes anywhere in it. */
export function changedValue(samples: readonly Json[]): Arbitrary<Json> {
  return fc.tuple(fc.constantFrom(...samples), fc.array(change, { maxLength: 8 })).map(([sample, changes]) => {
    const copy = structuredClone(sample);
    for (const one of changes) {
      apply(copy, one);
    }
    return copy;
  });
}

const oddText = fc.oneof(
  fc.constantFrom(
    '\u0000',
    '\ufeff',
    '\ud800',
    '"',
    '{',
    '[',
    '}',
    ']',
    '\\',
    '&a',
    '*a',
    '---\n',
    '\t',
    '\r',
    '-----BEGIN ',
  ),
  fc.constantFrom(
    '- '.repeat(200),
    '['.repeat(2_000),
    '{"a":'.repeat(2_000),
    '!!binary ',
    '<<: ',
    '? ',
    '| ',
    '0'.repeat(2_000),
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

interface Edit {
  at: number;
  remove: number;
  insert: string;
}

const edit: Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 500 })),
  insert: fc.oneof(fc.constant(''), oddText),
});

/** Texts with up to six pieces removed or inserted. */
export function damagedText(texts: Arbitrary<string>): Arbitrary<string> {
  return fc.tuple(texts, fc.array(edit, { maxLength: 6 })).map(([text, edits]) =>
    edits.reduce((before, { at, remove, insert }) => {
      const from = Math.floor(at * before.length);
      return before.slice(0, from) + insert + before.slice(from + remove);
    }, text),
  );
}

/** The bytes of a body in JSON: mostly well-formed, sometimes damaged, sometimes not UTF-8. */
export function jsonBody(samples: readonly Json[]): Arbitrary<Buffer> {
  const text = changedValue(samples).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 6, arbitrary: text.map((body) => Buffer.from(body)) },
    { weight: 3, arbitrary: damagedText(text).map((body) => Buffer.from(body)) },
    { weight: 1, arbitrary: damagedText(text).map((body) => Buffer.from(body, 'latin1')) },
  );
}

/** Bytes with some of them replaced, removed or inserted. */
export function damagedBytes(samples: readonly Buffer[]): Arbitrary<Buffer> {
  const texts = fc.constantFrom(...samples).map((bytes) => bytes.toString('latin1'));
  return damagedText(texts).map((text) => Buffer.from(text, 'latin1'));
}
