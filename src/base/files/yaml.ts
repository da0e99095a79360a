import { constructFromEvents, dump, EVENT_ID, type Event, getScalarValue, parseEvents, YAMLException } from 'js-yaml';
import { isPrintableYaml, printableJson } from '../terminal/printable.ts';

/** A value as YAML that is easy to read; texts longer than `lineWidth` are folded, with -1 none. */
export function readableYaml(value: object, lineWidth = 80): string {
  let text: string | undefined;
  try {
    text = dump(value, { noRefs: true, quoteStyle: 'double', lineWidth });
  } catch (error) {
    // The library's regular expressions overflow the stack on strings of a few MB, such as patches may contain.
    if (!(error instanceof RangeError)) {
      throw error;
    }
  }
  // JSON is YAML, too, and escapes what must not be printed.
  return text !== undefined && isPrintableYaml(text) ? text : `${printableJson(value, 2)}\n`;
}

/** Why a text is not valid YAML within the limits: one line, with the line number. */
export class YamlError extends Error {}

/** Maximum number of aliases in a document, and of the values that they add to it. */
const maxAliases = 100;
const maxAliased = 100_000;

/** Deepest nesting of arrays and objects. */
const maxDepth = 256;

/**
 * Parses a small YAML (or JSON) document of at most `maxLength` characters, in linear time.
 *
 * @throws {YamlError} when it is longer, is not a single YAML document, has a duplicate key, nests too deep, has more
 *   than 100 aliases, or has aliases that contain themselves or expand to too many values.
 */
export function parseSmallYaml(text: string, maxLength: number): unknown {
  if (text.length > maxLength) {
    throw new YamlError(`is longer than ${maxLength} characters`);
  }
  return parse(text);
}

/**
 * Checks what the parser allows but users of the result could not handle: a few aliases can expand to more values than fit
 * into memory, or to values that contain themselves.
 *
 * @param maxValues that the document may contain, each counted as often as it is referred to.
 */
function checkAliases(document: unknown, maxValues: number): void {
  const pending = [document];
  for (let count = 0; pending.length > 0; count++) {
    const value = pending.pop();
    if (count > maxValues) {
      throw new YamlError(`has aliases that contain themselves, or expand to more than ${maxAliased} values`);
    }
    for (const inner of typeof value === 'object' && value !== null ? Object.values(value) : []) {
      pending.push(inner);
    }
  }
}

/** The key at an offset, as written. */
function keyAt(text: string, offset: number, events: readonly Event[]): string {
  for (const event of events) {
    if (event.type === EVENT_ID.SCALAR && event.valueStart >= offset) {
      return JSON.stringify(getScalarValue(text, event).slice(0, 64));
    }
    if (event.type === EVENT_ID.ALIAS && event.anchorStart >= offset) {
      return `*${text.slice(event.anchorStart, event.anchorEnd).slice(0, 64)}`;
    }
  }
  return '';
}

function parse(text: string): unknown {
  let events: readonly Event[] = [];
  try {
    events = parseEvents(text, { maxDepth });
    const documents = constructFromEvents(events as Event[], { source: text, maxAliases });
    if (documents.length > 1) {
      throw new YamlError('contains more than one document');
    }
    const [document = null] = documents;
    checkAliases(document, events.length + maxAliased);
    return document;
  } catch (error) {
    if (!(error instanceof YAMLException)) {
      throw error;
    }
    const offset = error.mark?.position ?? 0;
    const known: Record<string, () => string> = {
      'duplicated mapping key': () => `the key ${keyAt(text, offset, events)} is duplicated`,
      'object-based map does not support complex keys': () => 'a key must be plain text',
      [`nesting exceeded maxDepth (${maxDepth})`]: () => 'nests too deeply',
      [`aliases exceeded maxAliases (${maxAliases})`]: () => `has more than ${maxAliases} aliases`,
    };
    const line = text.slice(0, offset).split('\n').length;
    throw new YamlError(`line ${line}: ${known[error.reason]?.() ?? error.reason.slice(0, 300)}`);
  }
}
