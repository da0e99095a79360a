import { type Bytes, bytesOf, decoded, jsonSyntaxError } from '../../../base/go-text/index.ts';
import type { Json } from '../../../kubernetes/index.ts';
import { type Budget, FunctionError, maxNesting, tooMuch } from '../budget.ts';
import { infiniteText } from '../values/numbers.ts';
import { Dict, Integer, List, type Operand, Struct, type Value } from '../values/values.ts';
import { define, defineAny, type Functions, ignoring } from './define.ts';

function scalarText(value: Exclude<Value, List | Dict>, escapesHtml: boolean): Bytes {
  if (typeof value === 'string') {
    const special = escapesHtml ? /[<>&\u2028\u2029]/g : /[\u2028\u2029]/g;
    const text = JSON.stringify(decoded(value)).replaceAll(
      special,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return bytesOf(text);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new FunctionError(`json: unsupported value: ${infiniteText(value)}`);
  }
  // Numbers are written as in JavaScript, but for a zero with a sign.
  return Object.is(value, -0) ? '-0' : String(value instanceof Integer ? value.value : value);
}

/** encoding/json's Marshal. @throws {FunctionError} for numbers that JSON does not have. */
function encodeJson(budget: Budget, value: Value, { escapesHtml = true, indent = '' } = {}): Bytes {
  const lineBreak = (depth: number) => (indent === '' ? '' : `\n${indent.repeat(depth)}`);
  const collection = <T>(brackets: string, items: readonly T[], depth: number, show: (item: T) => Bytes): Bytes => {
    if (depth >= maxNesting) {
      throw tooMuch(`the template writes JSON that nests deeper than ${maxNesting} levels`);
    }
    let text = brackets.charAt(0);
    for (const [index, item] of items.entries()) {
      text += (index > 0 ? ',' : '') + lineBreak(depth + 1) + show(item);
    }
    budget.write(items.length * indent.length * (depth + 1));
    return text + (items.length > 0 ? lineBreak(depth) : '') + brackets.charAt(1);
  };
  const show = (one: Value, depth: number): Bytes => {
    budget.spend(1);
    if (one instanceof Struct) {
      return show(one.text(), depth);
    }
    if ((one instanceof List || one instanceof Dict) && one.isNil) {
      return 'null';
    }
    if (one instanceof Dict) {
      return collection('{}', one.keys(), depth, (key) => {
        const name = scalarText(key, escapesHtml);
        return `${name}:${indent === '' ? '' : ' '}${show(one.entries.get(key) ?? null, depth + 1)}`;
      });
    }
    if (one instanceof List) {
      return collection('[]', one.items, depth, (item) => show(item, depth + 1));
    }
    budget.write(typeof one === 'string' ? one.length : 0);
    return scalarText(one, escapesHtml);
  };
  return show(value, 0);
}

/** encoding/json's Unmarshal into an `interface {}`. @throws {FunctionError} where Go refuses it. */
function decodeJson(budget: Budget, text: Bytes): Value {
  // At most every other character is a value.
  budget.spend(text.length / 4);
  let json: Json;
  try {
    json = JSON.parse(decoded(text)) as Json;
  } catch {
    throw new FunctionError(bytesOf(jsonSyntaxError(text, 'unexpected end of JSON input') ?? 'the text is not JSON'));
  }
  return valueOfJson(json, 0);
}

/**
 * A value of JSON as encoding/json would read it.
 *
 * @throws {FunctionError} for a number that float64 does not have.
 * @throws {NotKnown} for what nests too deep.
 */
export function valueOfJson(json: Json, depth = 0): Value {
  if (depth > maxNesting) {
    throw tooMuch(`JSON nests deeper than ${maxNesting} levels`);
  }
  if (typeof json === 'string') {
    return bytesOf(json);
  }
  if (Array.isArray(json)) {
    return new List(json.map((item) => valueOfJson(item, depth + 1)));
  }
  if (typeof json === 'object' && json !== null) {
    const entries = new Map<Bytes, Value>();
    for (const [key, value] of Object.entries(json)) {
      entries.set(bytesOf(key), valueOfJson(value, depth + 1));
    }
    return new Dict(entries);
  }
  if (typeof json === 'number' && !Number.isFinite(json)) {
    throw new FunctionError(`json: cannot unmarshal number ${json} into Go value of type float64`);
  }
  return json;
}

const pretty = (budget: Budget, value: Value): string => encodeJson(budget, value, { indent: '  ' });

const raw = define(['any'], ([value], budget) => encodeJson(budget, value, { escapesHtml: false }));

export const jsonFunctions: Functions = {
  toJson: define(['any'], ([value], budget) => ignoring('', () => encodeJson(budget, value))),
  mustToJson: define(['any'], ([value], budget) => encodeJson(budget, value)),
  toPrettyJson: define(['any'], ([value], budget) => ignoring('', () => pretty(budget, value))),
  mustToPrettyJson: define(['any'], ([value], budget) => pretty(budget, value)),
  toRawJson: raw,
  mustToRawJson: raw,
  fromJson: defineAny(['string'], ([text], budget) => ignoring<Operand | null>(null, () => decodeJson(budget, text))),
  mustFromJson: defineAny(['string'], ([text], budget) => decodeJson(budget, text)),
};
