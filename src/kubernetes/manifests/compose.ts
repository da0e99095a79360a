import {
  type AliasEvent,
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';
import { truncated } from '../../base/index.ts';
import { isJsonObject, setOwn } from '../objects/json/json.ts';
import { keyText, resolveScalar, type Scalar, ScalarError } from './scalar.ts';

/** Why a document cannot be read, with its position. The message continues "YAML: ". */
export class ComposeError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export interface NodePosition {
  at: number;
  /** Offset after a scalar. */
  end?: number;
  /** The fields of a map, each with the offset of its key, or the items of a list. */
  children?: Map<string | number, { at: number; value: NodePosition }>;
  /** For a scalar without anchor and tag: the text between its quotes, or the plain text. */
  text?: { from: number; to: number };
  /** The anchor that the node refers to, if it is an alias. */
  alias?: string;
}

/** A document as values, as kubectl reads it. */
export interface Composed {
  value: unknown;
  /** Duplicate keys. kubectl silently uses the last one. */
  duplicates: { offset: number; message: string }[];
  hasAliases: boolean;
  /** The positions of its fields, if requested. */
  place?: NodePosition;
}

interface Anchor {
  value: unknown;
  place: NodePosition | undefined;
  /** The number of nodes in it, including those of aliases. */
  size: number;
  isOpen: boolean;
  /** Its event, if it is a scalar, since keys are interpreted differently from values. */
  scalar?: ScalarEvent;
}

/** Longest key on one line that kubectl's parser accepts, in characters (YAML 1.2, 7.4.2). */
const maxKeyLength = 1024;

/** Maximum number of duplicate keys that are reported for a document. */
const maxDuplicates = 5;

/** An escape in double quotes; of a line break, with a blank line after it. */
const escaped = /\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r?\n[ \t]*\r?\n|[\s\S])/g;

/** The rest of a plain key whose colon kubectl reads as text. */
const glued = /\s*:[,[\]{}]/y;

const merge = 'tag:yaml.org,2002:merge';

/** The share of nodes that may come from aliases, as in go-yaml: it decreases from 99 % to 10 % as documents grow. */
function allowedAliasShare(nodes: number): number {
  const [small, large] = [400_000, 4_000_000];
  return nodes <= small ? 0.99 : nodes >= large ? 0.1 : 0.99 - (0.89 * (nodes - small)) / (large - small);
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The full name of a tag; undefined without a tag, and empty for `!`, which makes any scalar a string. */
function tagOf(text: string, { tagStart, tagEnd }: { tagStart: number; tagEnd: number }): string | undefined {
  if (tagStart === -1) {
    return undefined;
  }
  const tag = text.slice(tagStart, tagEnd);
  if (tag.startsWith('!<')) {
    return decodePercent(tag.slice(2, -1));
  }
  return tag.startsWith('!!') ? `tag:yaml.org,2002:${decodePercent(tag.slice(2))}` : tag === '!' ? '' : tag;
}

const isQuoted = ({ style }: ScalarEvent): boolean =>
  style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;

function quoted(key: string): string {
  return JSON.stringify(truncated(key, 100));
}

class Composer {
  readonly duplicates: Composed['duplicates'] = [];
  /** Nodes read so far, including those of aliases, and how many of them came from aliases. */
  nodes = 0;
  aliased = 0;
  place: NodePosition | undefined;
  private next = 1;
  private readonly anchors = new Map<string, Anchor>();
  private readonly text: string;
  private readonly events: readonly Event[];
  private readonly isPlaced: boolean;

  constructor(text: string, events: readonly Event[], isPlaced: boolean) {
    this.text = text;
    this.events = events;
    this.isPlaced = isPlaced;
  }

  private event(): Event {
    return this.events[this.next] as Event;
  }

  private fail(message: string, offset: number): never {
    throw new ComposeError(message, Math.max(offset, 0));
  }

  /** Runs what may throw a ScalarError about the text at an offset. */
  private about<T>(offset: number, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw error instanceof ScalarError ? new ComposeError(error.message, offset) : error;
    }
  }

  private openAnchor(
    event: ScalarEvent | SequenceEvent | MappingEvent,
    value: unknown,
    place?: NodePosition,
  ): Anchor | undefined {
    if (event.anchorStart === -1) {
      return undefined;
    }
    const name = this.text.slice(event.anchorStart, event.anchorEnd);
    if (!/^[A-Za-z0-9_-]+$/.test(name)) {
      this.fail(`the anchor ${quoted(name)} may have only letters, digits, "-" and "_"`, event.anchorStart);
    }
    const anchor: Anchor = { value, place, size: 1, isOpen: true };
    this.anchors.set(name, anchor);
    return anchor;
  }

  /** The text of a scalar, after checks that only kubectl's parser makes. */
  private scalarText(event: ScalarEvent): string {
    if (event.style === SCALAR_STYLE.DOUBLE_QUOTED && !event.fast) {
      const raw = this.text.slice(event.valueStart, event.valueEnd);
      for (const { 0: sequence, index } of raw.matchAll(escaped)) {
        const code = sequence.length > 2 ? Number.parseInt(sequence.slice(2), 16) : 0;
        if (sequence === '\\/' || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
          this.fail(`kubectl does not know the escape ${sequence}`, event.valueStart + index);
        }
        if (sequence.indexOf('\n') !== sequence.lastIndexOf('\n')) {
          // For kubectl the blank line is a line break, for our parser it is not.
          this.fail('a blank line follows a backslash; write the line break as \\n', event.valueStart + index);
        }
      }
    }
    return getScalarValue(this.text, event);
  }

  /** kubectl's parser implements YAML 1.1, which allows fewer plain scalars in flow collections. */
  private checkPlain(event: ScalarEvent, isKey: boolean): void {
    if (this.flowDepth === 0 || event.style !== SCALAR_STYLE.PLAIN || event.valueStart === -1) {
      return;
    }
    const { valueStart, valueEnd } = event;
    glued.lastIndex = valueEnd;
    const isGlued = isKey && glued.test(this.text);
    if (this.text.charAt(valueStart) === ':' || isGlued || this.text.slice(valueStart, valueEnd).includes('?')) {
      this.fail('text with ":" or "?" in brackets is ambiguous; put it in quotes', valueStart);
    }
  }

  private resolved(event: ScalarEvent): Scalar {
    const source = this.scalarText(event);
    const tag = tagOf(this.text, event);
    return tag === undefined && event.style !== SCALAR_STYLE.PLAIN
      ? { value: source }
      : this.about(event.tagStart, () => resolveScalar(source, tag));
  }

  private scalar(event: ScalarEvent): unknown {
    const { value } = this.resolved(event);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.fail(`${this.scalarText(event)} is not a JSON number; put it in quotes if it is text`, event.valueStart);
    }
    // JSON's integers have no negative zero.
    return value === 0 ? 0 : value;
  }

  private keyOf(event: ScalarEvent, at: number): string {
    return this.about(at, () => keyText(this.resolved(event)));
  }

  private isMerge(event: Event): boolean {
    return (
      event.type === EVENT_ID.SCALAR &&
      event.style === SCALAR_STYLE.PLAIN &&
      event.valueEnd - event.valueStart === 2 &&
      this.text.startsWith('<<', event.valueStart) &&
      (event.tagStart === -1 || tagOf(this.text, event) === merge)
    );
  }

  /** Reads a key: its text and its offset. */
  private key(style: MappingEvent['style']): { key: string; at: number } {
    const event = this.event();
    if (event.type === EVENT_ID.SCALAR) {
      this.next++;
      this.nodes++;
      const at = event.valueStart === -1 ? Math.max(event.tagStart, event.anchorStart) : this.startOf(event);
      if (event.valueEnd - event.valueStart > maxKeyLength && !this.isExplicit(at)) {
        this.fail(`a key is longer than ${maxKeyLength} characters, which kubectl does not read`, at);
      }
      if (event.valueStart === -1 && at === -1) {
        this.fail(style === 1 ? 'a key is missing before ":"' : 'a key is missing', this.lastAt);
      }
      this.checkPlain(event, true);
      const key = this.keyOf(event, at);
      this.lastAt = at;
      const anchor = this.openAnchor(event, key, { at });
      if (anchor !== undefined) {
        Object.assign(anchor, { value: this.scalar(event), isOpen: false, scalar: event });
      }
      return { key, at };
    }
    if (event.type === EVENT_ID.ALIAS) {
      const at = event.anchorStart - 1;
      const { scalar } = this.alias(event);
      if (scalar === undefined) {
        this.fail('a key must be text, not a map or a list', at);
      }
      return { key: this.keyOf(scalar, at), at };
    }
    return this.fail('a key must be text, not a map or a list', 'start' in event ? event.start : this.lastAt);
  }

  private flowDepth = 0;

  /** The last known offset, for events without one. */
  private lastAt = 0;

  private startOf(event: ScalarEvent): number {
    return event.valueStart - (isQuoted(event) ? 1 : 0);
  }

  /** Whether a key follows a "?" and so may be of any length. */
  private isExplicit(at: number): boolean {
    let before = at - 1;
    while (before >= 0 && /\s/.test(this.text.charAt(before))) {
      before--;
    }
    return this.text.charAt(before) === '?';
  }

  private alias(event: AliasEvent): Anchor {
    this.next++;
    const name = this.text.slice(event.anchorStart, event.anchorEnd);
    const anchor = this.anchors.get(name);
    const at = event.anchorStart - 1;
    if (anchor === undefined) {
      this.fail(`the alias *${name.slice(0, 100)} has no anchor before it`, at);
    }
    if (anchor.isOpen) {
      this.fail(`the alias *${name.slice(0, 100)} contains itself`, at);
    }
    this.nodes += 1 + anchor.size;
    this.aliased += anchor.size;
    if (this.aliased > 100 && this.nodes > 1000 && this.aliased / this.nodes > allowedAliasShare(this.nodes)) {
      this.fail('too much of the document comes from aliases; write it out, or split the document', at);
    }
    this.place = anchor.place === undefined ? undefined : { ...anchor.place, alias: name };
    this.lastAt = at;
    return anchor;
  }

  /**
   * Merges the maps that a "<<" refers to, as kubectl does: they override the keys before it, and of several maps the
   * first wins.
   */
  private mergeInto(map: Record<string, unknown>, children: NodePosition['children'], at: number): void {
    const isList = this.event().type === EVENT_ID.SEQUENCE;
    const value = this.node();
    const place = this.place;
    const values = isList ? (value as unknown[]) : [value];
    for (let index = values.length - 1; index >= 0; index--) {
      const from = values[index];
      if (!isJsonObject(from)) {
        this.fail('"<<" needs a map, an alias of one, or a list of these', at);
      }
      for (const [key, item] of Object.entries(from)) {
        setOwn(map, key, item);
      }
      for (const [key, field] of (isList ? place?.children?.get(index)?.value : place)?.children ?? []) {
        children?.set(key, field);
      }
    }
  }

  private fillMap(
    map: Record<string, unknown>,
    children: NodePosition['children'],
    style: MappingEvent['style'],
  ): void {
    // The map's own keys, once others have been merged into it.
    let own: Set<string> | undefined;
    while (this.event().type !== EVENT_ID.POP) {
      const keyEvent = this.event();
      if (this.isMerge(keyEvent)) {
        own ??= new Set(Object.keys(map));
        this.next++;
        this.mergeInto(map, children, (keyEvent as ScalarEvent).valueStart);
        continue;
      }
      const { key, at } = this.key(style);
      if (own === undefined ? Object.hasOwn(map, key) : own.has(key)) {
        if (this.duplicates.length < maxDuplicates) {
          this.duplicates.push({ offset: at, message: `duplicate key ${quoted(key)} in a map` });
        }
      }
      own?.add(key);
      setOwn(map, key, this.node());
      if (this.place !== undefined) {
        children?.set(key, { at, value: this.place });
      }
    }
  }

  private fillList(list: unknown[], children: NodePosition['children']): void {
    while (this.event().type !== EVENT_ID.POP) {
      list.push(this.node());
      if (this.place !== undefined) {
        children?.set(list.length - 1, { at: this.place.at, value: this.place });
      }
    }
  }

  private collection(event: SequenceEvent | MappingEvent): unknown {
    const isFlow = event.style === COLLECTION_STYLE.FLOW;
    const isMap = event.type === EVENT_ID.MAPPING;
    const value = isMap ? {} : [];
    const place: NodePosition | undefined = this.isPlaced ? { at: event.start, children: new Map() } : undefined;
    const before = this.nodes++;
    const anchor = this.openAnchor(event, value, place);
    this.lastAt = event.start;
    this.flowDepth += isFlow ? 1 : 0;
    if (Array.isArray(value)) {
      this.fillList(value, place?.children);
    } else {
      this.fillMap(value, place?.children, event.style);
    }
    this.next++;
    this.flowDepth -= isFlow ? 1 : 0;
    if (anchor !== undefined) {
      anchor.isOpen = false;
      anchor.size = this.nodes - before;
    }
    this.place = place;
    return value;
  }

  node(): unknown {
    const event = this.event();
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        this.next++;
        this.nodes++;
        this.checkPlain(event, false);
        const value = this.scalar(event);
        if (event.valueStart !== -1) {
          this.lastAt = this.startOf(event);
        }
        const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
        const isBare = !isBlock && event.tagStart === -1 && event.anchorStart === -1 && event.valueStart !== -1;
        const place: NodePosition | undefined = this.isPlaced
          ? {
              at: this.lastAt,
              end: Math.max(this.lastAt, event.valueEnd + (isQuoted(event) ? 1 : 0)),
              ...(isBare && { text: { from: event.valueStart, to: event.valueEnd } }),
            }
          : undefined;
        const anchor = this.openAnchor(event, value, place);
        if (anchor !== undefined) {
          anchor.isOpen = false;
          anchor.scalar = event;
        }
        this.place = place;
        return value;
      }
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING:
        this.next++;
        return this.collection(event);
      case EVENT_ID.ALIAS:
        return this.alias(event).value;
      default:
        return this.fail('a value is missing here', this.lastAt);
    }
  }
}

/**
 * Composes values from the parser's events for one document, as kubectl does. Aliases share their value with their
 * anchor; their expansion is limited as in kubectl.
 *
 * @throws {ComposeError} for documents that kubectl's parser rejects.
 */
export function compose(text: string, events: readonly Event[], isPlaced: boolean): Composed {
  const composer = new Composer(text, events, isPlaced);
  const value = events.length === 0 ? null : composer.node();
  return {
    value,
    duplicates: composer.duplicates,
    hasAliases: composer.aliased > 0,
    ...(composer.place !== undefined && { place: composer.place }),
  };
}
