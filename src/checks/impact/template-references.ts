import { fieldAt, isJsonObject, type Json, type JsonObject, textAt } from '../../kubernetes/index.ts';

interface TemplateReference {
  group: string;
  version: string;
  kind: string;
  name: string;
}

function* referencesIn(value: Json | undefined): Generator<JsonObject> {
  if (Array.isArray(value)) {
    for (const item of value) {
      yield* referencesIn(item);
    }
  } else if (isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      // `ref` in v1beta1.
      if ((name === 'templateRef' || name === 'ref') && isJsonObject(inner)) {
        yield inner;
      } else {
        yield* referencesIn(inner as Json);
      }
    }
  }
}

/** The templates that a ClusterClass names. */
export function* templateReferences(clusterClass: JsonObject): Generator<TemplateReference> {
  for (const part of ['infrastructure', 'controlPlane', 'workers']) {
    for (const reference of referencesIn(fieldAt(clusterClass, 'spec', part))) {
      const [group = '', version = ''] = textAt(reference, 'apiVersion').split('/');
      yield { group, version, kind: textAt(reference, 'kind'), name: textAt(reference, 'name') };
    }
  }
}
