import { type ExtensionConfig, injectCaFromSecretAnnotation, secretNameOf } from '../../../extensionconfig/index.ts';
import { isJsonObject, type JsonObject } from '../../../kubernetes/index.ts';
import type { KnownSecret } from '../../facts/facts.ts';
import type { Facts } from '../../facts/store.ts';

export const secretAnnotationPath = ['metadata', 'annotations', injectCaFromSecretAnnotation] as const;

/** The Secret that an annotation names, and what is known about it. */
interface NamedSecret {
  namespace: string;
  name: string;
  key: string;
  found: KnownSecret | 'absent' | undefined;
}

/** The Secret that the annotation of an object of any form names; undefined without a valid annotation. */
export function annotatedSecret({ metadata }: JsonObject): { namespace: string; name: string } | undefined {
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined;
  const value = isJsonObject(annotations) ? annotations[injectCaFromSecretAnnotation] : undefined;
  return typeof value === 'string' ? secretNameOf(value) : undefined;
}

export function namedSecret(object: ExtensionConfig, facts: Facts | undefined): NamedSecret | undefined {
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
export function usableSecret(
  object: ExtensionConfig,
  facts: Facts | undefined,
): (NamedSecret & { found: KnownSecret }) | undefined {
  const secret = namedSecret(object, facts);
  if (secret?.found === undefined || secret.found === 'absent' || secret.found.problem !== undefined) {
    return undefined;
  }
  return { ...secret, found: secret.found };
}
