import type { NameFormat } from '../../kubernetes/custom-resources/index.ts';
import { type JsonObject, objectAt, type StatusCause } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';

/** A column of the table that `kubectl get` prints, besides the name. */
export interface Column {
  name: string;
  type: string;
  format?: string;
  description: string;
  priority: number;
  /** A JSONPath as in CustomResourceDefinitions (`.spec.replicas`), or a function for built-in kinds. */
  value: string | ((object: JsonObject) => string | number | boolean | null);
}

/** A column of the tables that `kubectl get` prints; `value` is a JSON path, or reads it from the object. */
export function column(name: string, value: Column['value'], type = 'string', description = name): Column {
  return { name, type, description, priority: 0, value };
}

export const age = column(
  'Age',
  '.metadata.creationTimestamp',
  'date',
  'Time since the object was created, on the clock of the server',
);

/** How a kind differs from plain storage. Functions may modify the object that they receive. */
export interface KindStrategy {
  /** Completes an object before validation: defaults, and fields that only the server sets. */
  prepare?(object: JsonObject, old: JsonObject | undefined): void;
  validate?(object: JsonObject, old: JsonObject | undefined): Iterable<StatusCause>;
  deletionProblem?(name: string): string | undefined;
  /** If present, deletion only marks the object this way, and a controller finishes it. */
  markForDeletion?(object: JsonObject, now: string): void;
  warn?(object: JsonObject): string[];
  /** The format of the name; default: an RFC 1123 subdomain. */
  nameFormat?: NameFormat;
}

export interface UserInfo {
  username: string;
  groups: string[];
}

/** The only user of a sandbox, who has all permissions. */
export const sandboxUser: UserInfo = { username: 'sandbox-admin', groups: ['system:masters', 'system:authenticated'] };

export interface WebhookClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  caBundle?: string;
}

/** One resource in one served version, addressed by a path under /api or /apis. */
export interface Resource {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  listKind: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  /** Name of the collection that holds its objects, whatever their version. */
  storage: string;
  storageVersion: string;
  hasStatus: boolean;
  /** Fields that objects can be selected by, besides metadata.name and metadata.namespace. */
  selectableFields: readonly string[];
  hasGeneration: boolean;
  isCustom: boolean;
  schema: Schema;
  /** The model whose schema it is, by its name in OpenAPI; undefined for a custom resource. */
  model?: string;
  columns: readonly Column[];
  deprecation: string | undefined;
  /** The webhook that converts between versions; undefined if only apiVersion differs. */
  conversion: WebhookClientConfig | undefined;
  strategy: KindStrategy;
}

/** The form in which a client wants objects: whole, as rows of a table, or only their metadata. */
export type View = { as: 'object' } | { as: 'table'; include: 'Metadata' | 'Object' | 'None' } | { as: 'metadata' };

/** A request for a resource. An empty namespace means all namespaces, an empty name a collection or a new object. */
export interface ResourceRequest {
  resource: Resource;
  namespace: string;
  name: string;
  subresource: string;
  query: URLSearchParams;
  view: View;
  mediaType: string | undefined;
  body: Uint8Array;
  warn(text: string): void;
}

/** `GROUP/VERSION`, or `VERSION` in the core group. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `PLURAL.GROUP`, the name of the CustomResourceDefinition, under which all versions are stored. */
export function storageNameOf(group: string, plural: string): string {
  return group === '' ? plural : `${plural}.${group}`;
}

export const namespaceStorage = 'namespaces';

/** The metadata of an object that has passed `completed`. */
export function metadataOf(object: JsonObject): JsonObject {
  return object.metadata as JsonObject;
}

/** The labels of an object; none if there are none. */
export function labelsOf(object: JsonObject): Record<string, string> {
  return objectAt(object, 'metadata', 'labels') as Record<string, string>;
}
