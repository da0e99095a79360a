import type { JsonObject, StatusCause } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';

/** A column of the table that `kubectl get` prints, besides the name. */
export interface Column {
  name: string;
  type: string;
  format?: string;
  description: string;
  priority: number;
  /** Whether the value is a time that is shown as an age. Columns of type `date` always are. */
  isTime?: boolean;
  /** A JSONPath as in CustomResourceDefinitions (`.spec.replicas`), or a function for built-in kinds. */
  value: string | ((object: JsonObject) => string | number | boolean | null);
}

/** The strategy of a kind: how it differs from plain storage. Functions may modify the object that they receive. */
export interface KindStrategy {
  /** Completes an object before validation: defaults, and fields that only the server sets. */
  prepare?(object: JsonObject, old: JsonObject | undefined): void;
  /** Writes what a controller would write after a change of the spec, when that is stored. */
  observe?(object: JsonObject, now: string): void;
  validate?(object: JsonObject, old: JsonObject | undefined): Iterable<StatusCause>;
  deletionProblem?(name: string): string | undefined;
  /** If present, deletion only marks the object this way, and a controller finishes it. */
  markForDeletion?(object: JsonObject, now: string): void;
  warn?(object: JsonObject): string[];
  /** The format of the name; default: an RFC 1123 subdomain. */
  nameFormat?: 'subdomain' | 'label' | 'label1035' | 'path';
  /** The apiVersion in which objects are stored, if that is one of another group. */
  storedAs?: string;
  /** Converts an object to another version; by default only apiVersion changes. */
  convert?(object: JsonObject, apiVersion: string): JsonObject;
  /** For review kinds: computes the response from the request; nothing is stored. */
  answer?(object: JsonObject, user: UserInfo): JsonObject;
}

/** UserInfo of authentication.k8s.io. */
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

/** The paths of the replicas of an object, and of the selector of its pods: a LabelSelector, or its text. */
export interface ScalePaths {
  spec: readonly string[];
  status: readonly string[];
  selector: readonly string[] | undefined;
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
  /** Where the values of the subresource `scale` are in an object; undefined without it. */
  scale: ScalePaths | undefined;
  /** Fields that objects can be selected by, besides metadata.name and metadata.namespace. */
  selectableFields: readonly string[];
  /** Whether changes of the spec increase metadata.generation. */
  hasGeneration: boolean;
  isCustom: boolean;
  schema: Schema;
  columns: readonly Column[];
  deprecation: string | undefined;
  /** The webhook that converts between versions; undefined if only apiVersion differs. */
  conversion: WebhookClientConfig | undefined;
  strategy: KindStrategy;
}

/** `GROUP/VERSION`, or `VERSION` in the core group. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/**
 * `PLURAL.GROUP`, the name under which all versions are stored, which is also the name of the CustomResourceDefinition.
 */
export function storageNameOf(group: string, plural: string): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The verbs that discovery lists, in the order of the real API server. */
export function verbsOf(resource: Resource): readonly string[] {
  return resource.strategy.answer === undefined
    ? ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
    : ['create'];
}

/** The kind of the bodies of the subresource `scale`. */
export const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

export const namespaceStorage = 'namespaces';

/** The metadata of an object that has passed `completed`. */
export function metadataOf(object: JsonObject): JsonObject {
  return object.metadata as JsonObject;
}
