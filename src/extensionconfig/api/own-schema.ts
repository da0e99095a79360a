import type { Schema } from '../../kubernetes/schema/index.ts';
import { openApiSchemaOf } from './crd.ts';
import type { Version } from './names.ts';

/** The keywords that our schemas use, and limits that Kubernetes itself adds. */
export interface LimitedSchema
  extends Pick<
    Schema,
    'required' | 'enum' | 'format' | 'pattern' | 'minLength' | 'maxLength' | 'minimum' | 'maxItems' | 'minProperties'
  > {
  type: 'object' | 'array' | 'string' | 'integer';
  properties?: Record<string, LimitedSchema>;
  additionalProperties?: LimitedSchema;
  items?: LimitedSchema;
  /** Maximum number of bytes of all keys and values of a map of strings together. */
  maxTotalBytes?: number;
}

/** Maximum number of bytes of all annotations of an object together (Kubernetes' TotalAnnotationSizeLimitB). */
export const maxAnnotationBytes = 256 * 1024;
/** Longest name of an object: a DNS subdomain (RFC 1123). */
const maxNameLength = 253;
const maxLabelValueLength = 63;

/** metav1.ObjectMeta, with the fields that this program uses. */
const metadata: LimitedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: maxNameLength },
    generateName: { type: 'string', maxLength: maxNameLength },
    namespace: { type: 'string' },
    annotations: { type: 'object', additionalProperties: { type: 'string' }, maxTotalBytes: maxAnnotationBytes },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: maxLabelValueLength } },
    deletionTimestamp: { type: 'string' },
  },
};

/** The schema of one version of ExtensionConfig with that of its metadata. */
export function ownSchemaOf(version: Version): LimitedSchema {
  const schema = openApiSchemaOf(version) as LimitedSchema;
  return { ...schema, properties: { ...schema.properties, metadata } };
}

/** The limit that a map exceeds. Listing 10^5 keys takes as long as parsing them, even if only the first are read. */
const exceeded = new WeakMap<object, number>();

/** Whether all keys and strings of a map, which must not change, have more than `limit` bytes of UTF-8. */
export function hasMoreBytes(map: Readonly<Record<string, unknown>>, limit: number): boolean {
  if ((exceeded.get(map) ?? 0) >= limit) {
    return true;
  }
  const hasMore = countsMoreBytes(map, limit);
  if (hasMore) {
    exceeded.set(map, limit);
  }
  return hasMore;
}

function countsMoreBytes(map: Readonly<Record<string, unknown>>, limit: number): boolean {
  let units = 0;
  for (const key in map) {
    const value = map[key];
    units += key.length + (typeof value === 'string' ? value.length : 0);
    // Each unit takes at least a byte.
    if (units > limit) {
      return true;
    }
  }
  // A UTF-16 unit takes at most three bytes, so bytes rarely have to be counted.
  if (units * 3 <= limit) {
    return false;
  }
  let bytes = 0;
  for (const key in map) {
    const value = map[key];
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
    if (bytes > limit) {
      return true;
    }
  }
  return false;
}
