import { constructFromEvents, dump, EVENT_ID, type Event, getScalarValue, parseEvents, YAMLException } from 'js-yaml';
import { isPrintableYaml, printableJson } from '../terminal/printable.ts';

/**
 * A value as YAML that is easy to read.
 *
 * @param lineWidth after which long texts are folded; -1 for never.
 */
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

/** Maximum number of aliases in a document, and of the values that they expand to. */
const maxAliases = 100;
const maxAliased = 100_000;

/** Deepest nesting of arrays and objects. */
const maxDepth = 256;

/**
 * Parses a small YAML (or JSON) document, such as a file that a flag names. Time is linear in its length, which
 * `maxLength` limits.
 *
 * @param maxLength in characters.
 * @throws {YamlError} when it is longer, is not a single YAML document, has a duplicate key, nests too deep, has more
 *   than 100 aliases, or has aliases that contain themselves or expand to too many values.
 */
export function parseSmallYaml(text: string, maxLength: number): unknown {
  if (text.length > maxLength) {
    throw new YamlError(`is longer than ${maxLength} characters`);
  }
  return parse(text);
}

/** What aliases with the anchor's name refer to. */
interface Anchor {
  /** The number of values, including those of aliases in it. */
  size: number;
  isOpen: boolean;
}

/**
 * Checks what the parser allows but users of the result could not handle: aliases, a few of which can expand to more
 * values than fit into memory, or to values that contain themselves.
 */
function checkEvents(text: string, events: readonly Event[]): void {
  const anchors = new Map<string, Anchor>();
  // The open arrays and objects, the document first; also those without an anchor.
  const open: Anchor[] = [];
  let [aliases, aliased] = [0, 0];
  const anchor = (event: { anchorStart: number; anchorEnd: number }, isOpen: boolean): Anchor => {
    const added = { size: 1, isOpen };
    if (event.anchorStart !== -1) {
      anchors.set(text.slice(event.anchorStart, event.anchorEnd), added);
    }
    return added;
  };
  const close = (closed: Anchor | undefined) => {
    const parent = open.at(-1);
    if (closed !== undefined && parent !== undefined) {
      parent.size += closed.size;
    }
  };
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) {
      open.push({ size: 1, isOpen: true });
    } else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) {
      open.push(anchor(event, true));
    } else if (event.type === EVENT_ID.SCALAR) {
      close(anchor(event, false));
    } else if (event.type === EVENT_ID.POP) {
      const closed = open.pop();
      if (closed !== undefined) {
        closed.isOpen = false;
      }
      close(closed);
    } else {
      const name = text.slice(event.anchorStart, event.anchorEnd);
      const meant = anchors.get(name);
      aliases += 1;
      aliased += meant?.size ?? 0;
      if (aliases > maxAliases) {
        throw problemAt(text, event.anchorStart, `has more than ${maxAliases} aliases`);
      }
      if (meant?.isOpen === true) {
        throw problemAt(text, event.anchorStart, `the alias *${name.slice(0, 64)} contains itself`);
      }
      if (aliased > maxAliased) {
        throw problemAt(text, event.anchorStart, `has aliases that expand to more than ${maxAliased} values`);
      }
      close(meant);
    }
  }
}

/** A problem at an offset of a text, with its line number. */
function problemAt(text: string, offset: number, problem: string): YamlError {
  return new YamlError(`line ${text.slice(0, offset).split('\n').length}: ${problem}`);
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
    checkEvents(text, events);
    const documents = constructFromEvents(events as Event[], { source: text });
    if (documents.length > 1) {
      throw new YamlError('contains more than one document');
    }
    return documents[0] ?? null;
  } catch (error) {
    if (!(error instanceof YAMLException)) {
      throw error;
    }
    const offset = error.mark?.position ?? 0;
    const known: Record<string, () => string> = {
      'duplicated mapping key': () => `the key ${keyAt(text, offset, events)} is duplicated`,
      'object-based map does not support complex keys': () => 'a key must be plain text',
      [`nesting exceeded maxDepth (${maxDepth})`]: () => 'nests too deeply',
    };
    throw problemAt(text, offset, known[error.reason]?.() ?? error.reason.slice(0, 300));
  }
}
