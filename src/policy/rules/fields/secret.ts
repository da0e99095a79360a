import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { fieldAt, type JsonObject, namespacedNameIn } from '../../../kubernetes/index.ts';
import type { Facts } from '../../facts/store.ts';

export const secretAnnotationPath = ['metadata', 'annotations', injectCaFromSecretAnnotation] as const;

/** The Secret that the annotation of an object of any form names; undefined without a valid annotation. */
export function annotatedSecret(object: JsonObject): { namespace: string; name: string } | undefined {
  const value = fieldAt(object, ...secretAnnotationPath);
  return typeof value === 'string' ? namespacedNameIn(value) : undefined;
}

/** The Secret that the annotation of an object names, and what is known about it. */
export function namedSecret(object: ExtensionConfig, facts: Facts | undefined) {
  const parts = annotatedSecret(object as object as JsonObject);
  return (
    parts && {
      ...parts,
      key: `${parts.namespace}/${parts.name}`,
      found: facts?.secrets?.find(parts.namespace, parts.name),
    }
  );
}

/** The Secret that the annotation of an object names, if it is known to have a usable CA. */
export function usableSecret(object: ExtensionConfig, facts: Facts | undefined) {
  const secret = namedSecret(object, facts);
  const found = secret?.found;
  return secret === undefined || found === undefined || found === 'absent' || found.problem !== undefined
    ? undefined
    : { ...secret, found };
}
