import { group, hubVersion } from '../../extensionconfig/index.ts';
import { isJsonObject, type JsonObject, lastAppliedAnnotation, objectAt } from '../../kubernetes/index.ts';

/**
 * Longest last-applied annotation that is parsed, in characters: the limit for all annotations of an object together.
 */
const maxAnnotation = 256 * 1024;

/** A version of the API in which an object is written, and by whom. */
interface WrittenAs {
  apiVersion: string;
  by: string;
}

function appliedVersion(text: unknown): unknown {
  if (typeof text !== 'string' || text.length > maxAnnotation) {
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value.apiVersion : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The versions other than the current one in which an object of a cluster is written. It can be read in any version, so those
 * who wrote it tell: the fields that they manage, and what kubectl applied.
 */
export function olderVersionsOf(original: JsonObject): WrittenAs[] {
  const metadata = objectAt(original, 'metadata');
  const annotations = objectAt(metadata, 'annotations');
  const written = new Map<string, string>();
  const add = (apiVersion: unknown, by: string) => {
    if (
      typeof apiVersion === 'string' &&
      apiVersion.startsWith(`${group}/`) &&
      apiVersion !== `${group}/${hubVersion}`
    ) {
      written.set(apiVersion, written.get(apiVersion) ?? by);
    }
  };
  add(appliedVersion(annotations[lastAppliedAnnotation]), 'kubectl apply');
  for (const entry of Array.isArray(metadata.managedFields) ? metadata.managedFields.slice(0, 100) : []) {
    // Cluster API itself writes the status.
    if (isJsonObject(entry) && entry.subresource !== 'status') {
      add(entry.apiVersion, String(entry.manager ?? 'an unknown client'));
    }
  }
  return [...written].map(([apiVersion, by]) => ({ apiVersion, by }));
}
