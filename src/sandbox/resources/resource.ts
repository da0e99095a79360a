import type { JsonObject, StatusCause } from '../../kubernetes/index.ts';
import type { Schema } from '../../schema/index.ts';

/** A column of the table that `kubectl get` prints, beyond the name. */
export interface Column {
  name: string;
  type: string;
  format?: string;
  description: string;
  priority: number;
  /** Whether the value is a time, shown as its age. Columns of type `date` always are. */
  isTime?: boolean;
  /** JSONPath as CustomResourceDefinitions write it (`.spec.replicas`), or a function for kinds of our own. */
  value: string | ((object: JsonObject) => string | number | boolean | null);
}

/**
 * The strategy of a kind: what distinguishes it from plain storage. Functions may change the object that they receive.
 */
export interface KindStrategy {
  /** Completes an object before it is validated: defaults, fields that only the server sets. */
  prepare?(object: JsonObject, old: JsonObject | undefined): void;
  /** Writes what a controller would write for a new spec, after the generation has been increased. */
  observe?(object: JsonObject, now: string): void;
  validate?(object: JsonObject, old: JsonObject | undefined): StatusCause[];
  /** Why an object of this name may not be deleted. */
  deletionProblem?(name: string): string | undefined;
  /** When present, deletion only marks the object this way, and a controller finishes it. */
  markForDeletion?(object: JsonObject, now: string): void;
  /** Warnings for the client that writes the object. */
  warn?(object: JsonObject): string[];
  /** The format of the name; default: an RFC 1123 subdomain. */
  nameFormat?: 'subdomain' | 'label' | 'label1035' | 'path';
  /** The apiVersion in which objects are stored, if it belongs to another group. */
  storedAs?: string;
  /** Brings an object into another version; without it only apiVersion changes. */
  convert?(object: JsonObject, apiVersion: string): JsonObject;
  /** Whether it has the subresource `scale`, whose replicas are `spec.replicas`. */
  hasScale?: boolean;
  /** Reviews: responds from the request and stores nothing. */
  answer?(object: JsonObject, user: UserInfo): JsonObject;
}

/** userInfo of authentication.k8s.io. */
export interface UserInfo {
  username: string;
  groups: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

/** The address of a webhook: clientConfig of a webhook configuration or of a CustomResourceDefinition. */
export interface WebhookClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  caBundle?: string;
}

/** One resource in one served version, as a path under /api or /apis names it. */
export interface Resource {
  /** Empty for the core group. */
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  listKind: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  /** Name of the collection with the objects of all versions. */
  storage: string;
  storageVersion: string;
  hasStatus: boolean;
  /** Whether writes of the spec increase metadata.generation. */
  hasGeneration: boolean;
  /** Comes from a CustomResourceDefinition. */
  isCustom: boolean;
  /** Its definition is being deleted: nothing new may be created. */
  isTerminating: boolean;
  schema: Schema;
  columns: readonly Column[];
  /** Warning for every use of a deprecated version. */
  deprecation: string | undefined;
  /** Converts between versions; undefined when only apiVersion differs. */
  conversion: WebhookClientConfig | undefined;
  strategy: KindStrategy;
}

/** `GROUP/VERSION`, or `VERSION` in the core group. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `PLURAL.GROUP`, the name under which all versions are stored (and the name of the CustomResourceDefinition). */
export function storageNameOf(group: string, plural: string): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The verbs that discovery shows, in the order of the real server. */
export function verbsOf(resource: Resource): readonly string[] {
  return resource.strategy.answer === undefined
    ? ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
    : ['create'];
}

/** The collection of namespaces. */
export const namespaceStorage = 'namespaces';

/** Metadata of an object. The object must have passed `completed`. */
export function metadataOf(object: JsonObject): JsonObject {
  return object.metadata as JsonObject;
}
