import { fieldAt, type Json, type JsonObject, objectsAt } from '../../kubernetes/index.ts';
import type { Column, Resource, View } from '../resources/resource.ts';

/** A step into a field (`.spec`, `['a\.b']`), to an item (`[0]`), or to the first with a value (`[?(@.type=="Ready")]`). */
const step =
  /\.((?:[^.[\]\\]|\\.)+)|\['((?:[^'\\]|\\.)+)'\]|\[(\d{1,9})\]|\[\?\(@\.([\w-]+) ?== ?(?:"([^"]*)"|'([^']*)')\)\]/gy;

/** A function for the value at the path of a column, in linear time; undefined without one, and for other steps. */
function columnReader(path: string): (object: JsonObject) => Json | undefined {
  const steps = [...path.matchAll(step)];
  const isKnown = steps.reduce((length, [text]) => length + text.length, 0) === path.length;
  return (object) =>
    steps.reduce<Json | undefined>(
      (value, [, plain, quoted, index, field, double, single]) =>
        field === undefined
          ? fieldAt(value, index === undefined ? (plain ?? quoted ?? '').replaceAll(/\\(.)/g, '$1') : Number(index))
          : objectsAt(value).find((item) => fieldAt(item, field) === (double ?? single)),
      isKnown ? object : undefined,
    );
}

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
  value: '.metadata.name',
};

/** A duration in milliseconds as `kubectl get` shows it, in one unit: 119s, 5m, 4h, 5d. */
function formatAge(milliseconds: number): string {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0);
  const [unit, name] = [[86_400, 'd'] as const, [3_600, 'h'] as const, [60, 'm'] as const].find(
    ([unit]) => seconds >= 2 * unit,
  ) ?? [1, 's'];
  return `${Math.floor(seconds / unit)}${name}`;
}

/** A value as a cell; null if the object has none, as from the real API server. */
function cellOf(value: Json | undefined, column: Column, now: number): Json {
  if (value === undefined || value === null) {
    return null;
  }
  if (column.type === 'date') {
    const time = Date.parse(String(value));
    return Number.isNaN(time) ? '<unknown>' : formatAge(now - time);
  }
  if (column.type === 'string' && typeof value !== 'string') {
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
  return value;
}

/** Only the metadata of an object (PartialObjectMetadata of meta.k8s.io/v1). */
export function metadataOnly(object: JsonObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata ?? {} };
}

/** Objects as a Table of meta.k8s.io/v1, with ages at a time. */
export function tableOf(
  resource: Resource,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  { include }: View & { as: 'table' },
  time: string,
  hasColumns = true,
): JsonObject {
  const now = Date.parse(time);
  const columns = [nameColumn, ...resource.columns];
  const readers = columns.map(({ value }) => (typeof value === 'string' ? columnReader(value) : value));
  const definitions = columns.map(({ value: _, ...column }) => ({ format: '', ...column }));
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: hasColumns ? definitions : [],
    rows: objects.map((object) => ({
      cells: columns.map((column, index) => cellOf(readers[index]?.(object), column, now)),
      ...(include === 'None' ? {} : { object: include === 'Object' ? object : metadataOnly(object) }),
    })),
  };
}
