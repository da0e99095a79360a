import { Buffer } from 'node:buffer';
import { count } from '../../base/index.ts';
import { followed, looksSecret, notShown, withoutSecrets } from '../../base/secrets/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  textValues,
} from '../../kubernetes/index.ts';
import type { Cause, Plan } from '../../topology/index.ts';

/** Fields with what runs on a machine: files, commands, user data, arguments of the kubelet. */
const machineContent =
  /(?:content|contents|commands?|scripts?|user-?data|cloud-?init|cloud-?config|additionalConfig|configPatches|strategicPatches|kubelet[.\w]*args)$/i;
const shownOfContent: ReadonlySet<string> = new Set(['name', 'path']);
/** Fields of a schema, or of an entry with a name, whose value is that of what has the name. */
const valueFields: ReadonlySet<string> = new Set(['value', 'content', 'default', 'example', 'enum']);
const schemaFields: ReadonlySet<string> = new Set(['schema', 'openAPIV3Schema', 'items', 'additionalProperties']);

interface Place {
  /** The field, or what names it beside it, as of a variable. */
  name: string;
  isSecret: boolean;
  isContent: boolean;
}

const anywhere: Place = { name: '', isSecret: false, isContent: false };

type Visit = (leaf: string | number, place: Place) => Json;

/** The name of what an entry sets: a variable, an argument, a file, or the field at the path of a JSON patch. */
const nameIn = ({ name, path }: JsonObject): string | undefined =>
  typeof name === 'string'
    ? name
    : typeof path === 'string'
      ? path.split('/').findLast((part) => /\D/.test(part))
      : undefined;

/** A value with its texts, keys and numbers as `visit` has them. */
function mapped(value: Json, place: Place, isSecretName: (name: string) => boolean, visit: Visit): Json {
  if (typeof value === 'string' || typeof value === 'number') {
    return value === '' ? value : visit(value, place);
  }
  if (Array.isArray(value)) {
    return value.map((item) => mapped(item, place, isSecretName, visit));
  }
  if (!isJsonObject(value)) {
    return value;
  }
  const entryName = nameIn(value);
  const inner = ([field, one]: [string, Json]): [string, Json] => {
    const isValue = valueFields.has(field);
    const name = isValue ? (entryName ?? place.name) : schemaFields.has(field) ? (entryName ?? place.name) : field;
    // A secret field of several parts may refer to a Secret; a variable or an argument has it in itself.
    const isSecret = place.isSecret || (isSecretName(name) && (isValue || !isJsonObject(one)));
    const isContent =
      (place.isContent && !shownOfContent.has(field)) ||
      [name, `${place.name}.${field}`].some((one) => machineContent.test(one));
    return [String(visit(field, anywhere)), mapped(one, { name, isSecret, isContent }, isSecretName, visit)];
  };
  return Object.fromEntries(Object.entries(value as Record<string, Json>).map(inner));
}

const partsOf = ({ apiVersion: _apiVersion, kind, metadata: _metadata, ...parts }: JsonObject): JsonObject =>
  kind === 'CustomResourceDefinition' || kind === 'Secret' ? {} : parts;

const textsOfSecret = (secret: JsonObject): string[] => [
  ...Object.values(textValues(objectAt(secret, 'stringData'))),
  ...Object.values(textValues(objectAt(secret, 'data'))).map((value) => Buffer.from(value, 'base64').toString()),
];

/** Kinds whose texts of several lines are not content of machines. */
const kindsOfUsers: ReadonlySet<unknown> = new Set(['Cluster', 'ClusterClass']);

function markedIn(schema: Json, name: string): string[] {
  if (!isJsonObject(schema)) {
    return [];
  }
  const { format, properties, items, additionalProperties } = schema;
  return [
    ...(format === 'password' ? [name] : []),
    ...Object.entries(objectAt(properties)).flatMap(([field, one]) => markedIn(one as Json, field)),
    ...[items, additionalProperties].flatMap((one) => markedIn((one ?? null) as Json, name)),
  ];
}

const markedNames = (clusterClass: JsonObject): string[] =>
  [...objectsAt(clusterClass, 'spec', 'variables'), ...objectsAt(clusterClass, 'status', 'variables')].flatMap(
    (variable) =>
      [variable, ...objectsAt(variable, 'definitions')].flatMap(({ schema }) =>
        markedIn(objectAt(schema, 'openAPIV3Schema'), String(variable.name)),
      ),
  );

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

const maxRanges = 8;

/** `3-5, 9`: which of these lines are not among others. */
function rangesText(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) {
      last[1] = number;
    } else {
      ranges.push([number, number]);
    }
  }
  const texts = ranges.slice(0, maxRanges).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return `${texts.join(', ')}${ranges.length > maxRanges ? ', …' : ''}`;
}

/** What is said of a text instead of it: how long it is, and which of its lines the other state does not have. */
function sizeText(text: string, others: ReadonlySet<string> | undefined, isNew: boolean): string {
  const lines = linesOf(text);
  const size = `${lines.length > 1 ? `${lines.length} lines, ` : ''}${count(text.length, 'character')}`;
  const unlike = lines.flatMap((line, index) => (others === undefined || others.has(line) ? [] : [index + 1]));
  const what = isNew ? 'new' : 'removed';
  return unlike.length === 0
    ? `(${size})`
    : unlike.length === lines.length
      ? `(${size}, ${what})`
      : `(${size}; ${unlike.length === 1 ? 'line' : 'lines'} ${rangesText(unlike)} ${what})`;
}

export interface Comparison {
  /** Lines of the texts of the other state; undefined if there is none. */
  others?: ReadonlySet<string> | undefined;
  isNew?: boolean;
  /** Whether all texts of several lines are content of machines. Default: true. */
  hidesLines?: boolean;
}

const textsIn = (value: Json): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values<Json>(value).flatMap(textsIn)
      : [];

const linesIn = (value: Json | undefined): Set<string> | undefined =>
  value === undefined ? undefined : new Set(textsIn(value).flatMap(linesOf));

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const causeFields: ReadonlySet<string> = new Set(['causes', 'healthCheck']);
const textFields: ReadonlySet<string> = new Set(['text', 'remedy', 'manner']);

/**
 * Keeps secrets of some objects out of what is shown. What is at the place of a secret (a variable or field whose name says so, or
 * with the format `password`; the data of a Secret) is hidden wherever it is, and what is recognized by its shape.
 *
 * @param objects all that is read.
 * @param options.showsContent whether files, commands, user data and kubelet arguments are shown; else, which lines differ.
 */
export function createHiding(objects: Iterable<JsonObject>, { showsContent = false }: { showsContent?: boolean } = {}) {
  const all = [...objects];
  const marked = new Set(all.filter(({ kind }) => kind === 'ClusterClass').flatMap(markedNames));
  const names = new Map<string, boolean>();
  const isSecretName = (name: string): boolean => {
    const known = names.get(name) ?? (marked.has(name) || looksSecret(name));
    names.set(name, known);
    return known;
  };
  const values = new Set<string | number>(all.flatMap((one) => (one.kind === 'Secret' ? textsOfSecret(one) : [])));
  for (const object of all) {
    mapped(partsOf(object), anywhere, isSecretName, (leaf, { isSecret }) => {
      if (isSecret) {
        values.add(leaf);
      }
      return leaf;
    });
  }
  const known = all.flatMap((object) => [nameOf(object), namespaceOf(object), String(object.kind)]);
  const follow = followed(values, new Set(known));
  const textOf = (text: string): string => withoutSecrets(follow(text));

  /** Shows values: of content of machines, its size, and which of its lines another state does not have. */
  const shown = (value: Json, place: Place, { others, isNew = true, hidesLines = true }: Comparison): Json =>
    mapped(value, place, isSecretName, (leaf, { isSecret, isContent }) => {
      const text = String(leaf);
      if (isSecret) {
        return notShown;
      }
      if (!showsContent && (isContent || (hidesLines && text.includes('\n')))) {
        return sizeText(text, others, isNew);
      }
      const safe = textOf(text);
      return safe === text ? leaf : safe;
    });

  function objectOf(object: JsonObject, comparison: Comparison = {}): JsonObject {
    const ofParts = (value: Json) =>
      shown(value, anywhere, { hidesLines: !kindsOfUsers.has(object.kind), ...comparison });
    const annotations = Object.entries(textValues(objectAt(object, 'metadata', 'annotations'))).map(([name, text]) => {
      // As kubectl keeps what was applied last.
      const value = text.startsWith('{') ? jsonIn(text) : undefined;
      return [name, value === undefined ? textOf(text) : JSON.stringify(ofParts(value))];
    });
    return {
      ...object,
      ...(annotations.length > 0 && {
        metadata: { ...objectAt(object, 'metadata'), annotations: Object.fromEntries(annotations) },
      }),
      ...(ofParts(partsOf(object)) as JsonObject),
    };
  }

  function causeOf(cause: Cause): Cause {
    const { field, from = '', before, after } = cause;
    const variables = [...from.matchAll(/variable ([^,\s]+)/g)];
    const name = field.split('.').at(-1) ?? '';
    const place = {
      name,
      isSecret: isSecretName(name) && ![before, after].some(isJsonObject),
      // What a patch makes of a secret (a hash, or a part of it) is as secret.
      isContent:
        field.split('.').some((_, index, parts) => machineContent.test(parts.slice(0, index + 1).join('.'))) ||
        variables.some(([, variable = '']) => isSecretName(variable)),
    };
    return {
      ...cause,
      field: textOf(field),
      ...(before !== undefined && { before: shown(before, place, { others: linesIn(after), isNew: false }) }),
      ...(after !== undefined && { after: shown(after, place, { others: linesIn(before) }) }),
      ...(cause.from !== undefined && { from: textOf(from) }),
    };
  }

  /** Causes, and the texts of a plan that tell of values; names, verdicts and numbers stay. */
  function toldOf(value: unknown, field = ''): unknown {
    if (typeof value === 'string') {
      return textFields.has(field) ? textOf(value) : value;
    }
    if (Array.isArray(value)) {
      return value.map((one) => (causeFields.has(field) ? causeOf(one as Cause) : toldOf(one, field)));
    }
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toldOf(one, name)]))
      : value;
  }

  return {
    text: textOf,
    /** The same without the secrets in its texts, where content of machines is shown. */
    shown: <T>(value: T): T => shown(value as Json, anywhere, { hidesLines: false }) as T,
    object: objectOf,
    objects: ({ before, after }: Readonly<Record<'before' | 'after', JsonObject | undefined>>) => ({
      before: before && objectOf(before, { others: linesIn(after), isNew: false }),
      after: after && objectOf(after, { others: linesIn(before) }),
    }),
    plan: (plan: Plan): Plan => ({ ...plan, clusters: toldOf(plan.clusters) as Plan['clusters'] }),
  };
}

export type Hiding = ReturnType<typeof createHiding>;
