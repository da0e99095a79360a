import { group, hubVersion } from '../api/index.ts';
import { isJsonObject, type JsonObject } from '../kubernetes/index.ts';

/** Longest last-applied annotation that is parsed, in characters: annotations of an object have 256 KiB together. */
const maxAnnotation = 256 * 1024;
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** A version of the API that an object is written in, and who writes it so. */
export interface WrittenAs {
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
 * The versions other than the current one that an object is written in. A manifest says it itself; of an object in a
 * cluster, which is read in any version, those who wrote it do: the fields that they manage, and what kubectl applied.
 */
export function olderVersionsOf(original: JsonObject, isFromCluster: boolean): WrittenAs[] {
  const metadata = isJsonObject(original.metadata) ? original.metadata : {};
  const annotations = isJsonObject(metadata.annotations) ? metadata.annotations : {};
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
  if (!isFromCluster) {
    add(original.apiVersion, 'the manifest');
  } else {
    add(appliedVersion(annotations[lastApplied]), 'kubectl apply');
    for (const entry of Array.isArray(metadata.managedFields) ? metadata.managedFields.slice(0, 100) : []) {
      // The status is written by Cluster API itself.
      if (isJsonObject(entry) && entry.subresource !== 'status') {
        add(entry.apiVersion, String(entry.manager ?? 'an unknown client'));
      }
    }
  }
  return [...written].map(([apiVersion, by]) => ({ apiVersion, by }));
}
