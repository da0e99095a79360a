import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import type { Column, Resource } from '../resources/resource.ts';
import { columnReader } from './column-path.ts';

/** The form in which a client wants objects: whole, as rows of a table, or only their metadata. */
export type View = { as: 'object' } | { as: 'table'; include: 'Metadata' | 'Object' | 'None' } | { as: 'metadata' };

const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';

/** A duration in milliseconds as `kubectl get` shows it: 5s, 3m20s, 4h, 2d. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 0) {
    return seconds < -1 ? '<invalid>' : '0s';
  }
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const years = Math.floor(days / 365);
  const pair = (large: number, largeUnit: string, small: number, smallUnit: string) =>
    small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
  if (seconds < 120) {
    return `${seconds}s`;
  }
  if (minutes < 10) {
    return pair(minutes, 'm', seconds % 60, 's');
  }
  if (minutes < 180) {
    return `${minutes}m`;
  }
  if (hours < 8) {
    return pair(hours, 'h', minutes % 60, 'm');
  }
  if (hours < 48) {
    return `${hours}h`;
  }
  if (days < 8) {
    return pair(days, 'd', hours % 24, 'h');
  }
  if (days < 365 * 2) {
    return `${days}d`;
  }
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

/** A value as a cell; null if the object has none, as from the real API server. */
function cellOf(value: Json | undefined, column: Column, now: number): Json {
  if (value === undefined || value === null) {
    return null;
  }
  if (column.type === 'date' || column.isTime === true) {
    const time = Date.parse(String(value));
    return Number.isNaN(time) ? '<unknown>' : formatAge(now - time);
  }
  if (column.type === 'string' && typeof value !== 'string') {
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
  return value;
}

/** Whether a kind has its own column for the name, which otherwise comes first. */
function showsName({ columns }: Resource): boolean {
  return columns.some(({ name }) => name === 'Name');
}

function definitions(resource: Resource): JsonObject[] {
  return [
    ...(showsName(resource)
      ? []
      : [{ name: 'Name', type: 'string', format: 'name', description: nameDescription, priority: 0 }]),
    ...resource.columns.map(({ name, type, format = '', description, priority }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  ];
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
  const isNamed = showsName(resource);
  const readers = resource.columns.map(({ value }) => (typeof value === 'string' ? columnReader(value) : value));
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: options.columns ? definitions(resource) : [],
    rows: objects.map((object) => ({
      cells: [
        ...(isNamed ? [] : [isJsonObject(object.metadata) ? (object.metadata.name ?? '') : '']),
        ...resource.columns.map((column, index) => cellOf(readers[index]?.(object), column, options.now)),
      ],
      ...(options.include === 'None' ? {} : { object: options.include === 'Object' ? object : metadataOnly(object) }),
    })),
  };
}
