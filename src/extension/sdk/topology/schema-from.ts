import { isJsonObject, type Json, type JsonObject, objectAt, objectsAt, textAt } from '../../../kubernetes/index.ts';
import type { TypedSchema } from '../../../runtimehooks/index.ts';
import { segmentsOf } from '../objects/json-path.ts';
import type { OpenApiSchema } from './define-variables.ts';

/** Fields of CustomResourceDefinitions' schemas that schemas of variables lack. */
const foreign = [
  'nullable',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-embedded-resource',
];

/** @param isSchema whether the value is a schema, and not the schemas of its properties by name. */
function withoutForeign(value: Json, isSchema: boolean): Json {
  if (Array.isArray(value)) {
    return value.map((item) => withoutForeign(item, isSchema));
  }
  if (!isJsonObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !isSchema || !foreign.includes(name))
      .map(([name, field]) => [
        name,
        // A default, and the values of an enum, are not schemas.
        isSchema && (name === 'default' || name === 'enum' || name === 'example')
          ? field
          : withoutForeign(field, name !== 'properties' || !isSchema),
      ]),
  );
}

/**
 * The schema that a CustomResourceDefinition has for a field, for a variable with its values. Their type is given, as
 * `template-types` writes it:
 *
 * ```ts
 * const disks = schemaFrom<LabMachineTemplate['spec']['template']['spec']['disks']>(crd, 'v1', 'spec.template.spec.disks');
 * const variables = defineVariables({ disks: { schema: disks } });
 * ```
 *
 * @param path `[0]` stands for the items of a list.
 * @throws {TypeError} when the CustomResourceDefinition has no such version or field.
 */
export function schemaFrom<Value>(crd: object, version: string, path: string): OpenApiSchema & TypedSchema<Value> {
  const versions = objectsAt(crd as Json, 'spec', 'versions');
  const { schema } = versions.find(({ name }) => name === version) ?? {};
  let at: JsonObject = objectAt(schema, 'openAPIV3Schema');
  for (const segment of segmentsOf(path)) {
    at = typeof segment === 'number' ? objectAt(at, 'items') : objectAt(at, 'properties', segment);
  }
  if (Object.keys(at).length === 0) {
    const kind = textAt(crd as Json, 'spec', 'names', 'kind');
    throw new TypeError(
      `${kind} has no field ${path} in version ${version}; it has ${versions.map(({ name }) => name).join(', ')}`,
    );
  }
  return withoutForeign(at, true) as unknown as OpenApiSchema & TypedSchema<Value>;
}
