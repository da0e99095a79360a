import type { Json, JsonObject } from '../../kubernetes/index.ts';
import type { Column, Resource } from '../resources/resource.ts';
import { columnReader } from './column-path.ts';

/** The form in which a client wants objects: whole, as rows of a table, or only their metadata. */
export type View = { as: 'object' } | { as: 'table'; include: 'Metadata' | 'Object' | 'None' } | { as: 'metadata' };

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
  value: '.metadata.name',
};

const [minute, hour, day] = [60, 60 * 60, 24 * 60 * 60];
const year = 365 * day;
/** How ages are shown up to a number of seconds: in which unit, and with the rest in which other one. */
const ageForms: readonly [below: number, unit: number, name: string, rest?: number, restName?: string][] = [
  [2 * minute, 1, 's'],
  [10 * minute, minute, 'm', 1, 's'],
  [3 * hour, minute, 'm'],
  [8 * hour, hour, 'h', minute, 'm'],
  [2 * day, hour, 'h'],
  [8 * day, day, 'd', hour, 'h'],
  [2 * year, day, 'd'],
  [8 * year, year, 'y', day, 'd'],
  [Number.POSITIVE_INFINITY, year, 'y'],
];

/** A duration in milliseconds as `kubectl get` shows it: 5s, 3m20s, 4h, 2d (apimachinery, HumanDuration). */
export function formatAge(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < -1) {
    return '<invalid>';
  }
  const form = ageForms.find(([below]) => seconds < below);
  const [, unit = 1, name = '', rest = unit, restName] = form ?? [];
  const left = Math.floor((seconds % unit) / rest);
  return `${Math.max(Math.floor(seconds / unit), 0)}${name}${left > 0 ? `${left}${restName}` : ''}`;
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

/**
 * Objects as a Table of meta.k8s.io/v1.
 *
 * @param now the time at which ages are computed, in milliseconds since the epoch.
 */
export function tableOf(
  resource: Resource,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  options: { include: 'Metadata' | 'Object' | 'None'; now: number; columns: boolean },
): JsonObject {
  const columns = [nameColumn, ...resource.columns];
  const readers = columns.map(({ value }) => (typeof value === 'string' ? columnReader(value) : value));
  const definitions = columns.map(({ name, type, format = '', description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: options.columns ? definitions : [],
    rows: objects.map((object) => ({
      cells: columns.map((column, index) => cellOf(readers[index]?.(object), column, options.now)),
      ...(options.include === 'None' ? {} : { object: options.include === 'Object' ? object : metadataOnly(object) }),
    })),
  };
}
