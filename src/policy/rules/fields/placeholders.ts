import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { type FieldPath, formatFieldPath, isJsonObject } from '../../../kubernetes/index.ts';
import type { RuleInput } from '../rule.ts';
import { secretAnnotationPath } from './secret.ts';

/** A variable as envsubst and clusterctl write it (`${NAME}`, `${NAME:=default}`), or an action of a Go template. */
const placeholder = /\$\{[A-Za-z_]|\{\{/;

function* stringsIn(value: unknown, path: FieldPath): Generator<{ path: FieldPath; value: string }> {
  if (typeof value === 'string') {
    yield { path, value };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* stringsIn(item, [...path, index]);
    }
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      yield* stringsIn(item, [...path, key]);
    }
  }
}

/** The placeholders in values that the API restricts; settings and other annotations may have any text. */
export function unrenderedIn({ object, violations }: Pick<RuleInput, 'object' | 'violations'>) {
  const { metadata, spec } = object;
  const values = [
    ...stringsIn(metadata.name, ['metadata', 'name']),
    ...stringsIn(metadata.generateName, ['metadata', 'generateName']),
    ...stringsIn(metadata.labels, ['metadata', 'labels']),
    ...stringsIn(metadata.annotations?.[injectCaFromSecretAnnotation], secretAnnotationPath),
    ...stringsIn(spec?.clientConfig, ['spec', 'clientConfig']),
    ...stringsIn(spec?.namespaceSelector, ['spec', 'namespaceSelector']),
    // Of the wrong type, so not in the object: the port of a Service, for example.
    ...violations.flatMap(({ path, value }) => [...stringsIn(value, path)]),
  ];
  const unrendered = values.filter(({ value, path }) => placeholder.test(value) && !path.includes('settings'));
  // A value that violates the schema may be in the object, too: a caBundle that is not base64, for example.
  return [...new Map(unrendered.map((one) => [formatFieldPath(one.path), one])).values()];
}
