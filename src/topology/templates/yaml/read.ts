import { LRUCache } from 'lru-cache';
import { type Bytes, invalidAt, textOf } from '../../../base/go-text/index.ts';
import { copyOf, type Json } from '../../../kubernetes/index.ts';
import { ComposeError, compose } from '../../../kubernetes/manifests/index.ts';
import { tooMuch } from '../budget.ts';
import { notKnown, notYaml, type Prepared, prepare } from './prepare.ts';

/** Longest text that is read, in characters: as long as the files of a large class. */
const maxLength = 131_072;

/** Characters that go-yaml refuses anywhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/** Beginnings of errors for which go-yaml refuses a text, too. */
const refusals: readonly RegExp[] = [
  /^Invalid escape sequence/,
  /^Plain value cannot start with (?:reserved|directive indicator) character/,
  /^Nested mappings are not allowed/,
  /^All (?:mapping|sequence) items must start at the same column/,
  /^Unexpected block-seq-ind on same line with key/,
  /^Flow (?:map|sequence) must end/,
  /^Implicit map keys need to be followed by map values/,
  /^Missing , /,
  /^Unexpected , in flow /,
  /^.{1,200} is not a JSON number/s,
  /^the alias /,
  /^a key must be text/,
  /^the key .{1,200} is not text/s,
];

function isRefused({ message, offset }: ComposeError, { text, isBlock, isDoubtful }: Prepared): boolean {
  if (isDoubtful) {
    return /^(?:a key must be text|the key )/.test(message);
  }
  return (
    refusals.some((one) => one.test(message)) ||
    (message.startsWith('Implicit keys need') && /[0-9A-Za-z]/.test(text[offset] ?? '')) ||
    (/^Flow (?:map|sequence) in block/.test(message) && !/[\]}]/.test(text)) ||
    (isBlock && /^Unexpected (?!block-scalar).*(?:at node end|token in YAML)/.test(message))
  );
}

function parsed(bytes: Bytes): Json {
  const text = textOf(bytes).replace(/^\ufeff/, '');
  if (invalidAt(bytes) !== -1 || forbidden.test(text)) {
    throw notYaml('control characters and what is not UTF-8 are not allowed');
  }
  if (text.length > maxLength) {
    throw tooMuch(`the template renders to more than ${maxLength} characters`);
  }
  if (/\r(?!\n)|[\x85\u2028\u2029]/.test(text)) {
    throw notKnown('a line ends with a character that ends none in YAML 1.2');
  }
  const prepared = prepare(text);
  let value: Json;
  try {
    value = (compose(prepared.text).value ?? null) as Json;
  } catch (error) {
    if (!(error instanceof ComposeError)) {
      throw error;
    }
    throw isRefused(error, prepared) ? notYaml(error.message) : notKnown(error.message);
  }
  if (prepared.isDoubtful) {
    throw notKnown('a key is written with "?"');
  }
  return value;
}

/** Characters of rendered texts whose values are kept: Clusters of a class mostly render the same ones. */
const maxKept = 1_048_576;
const values = new LRUCache<Bytes, { value: Json }>({
  maxSize: maxKept,
  sizeCalculation: (_value, text) => text.length + 1,
});

/**
 * Reads the first document of YAML as sigs.k8s.io/yaml does: the last of two equal keys wins, and what follows the first
 * document does not count.
 *
 * @throws {TemplateError} when Go cannot read it either.
 * @throws {NotKnown} when it is too long, or go-yaml may read it differently.
 */
export function readYaml(bytes: Bytes): Json {
  const known = values.get(bytes) ?? { value: parsed(bytes) };
  values.set(bytes, known);
  return copyOf(known.value);
}
