import { decodingProblem, type GoType } from '../../kubernetes/custom-resources/index.ts';
import { fieldAt, type JsonObject, objectsAt, perObject, textAt } from '../../kubernetes/index.ts';
import { propertyOf, type Schema } from '../../kubernetes/schema/index.ts';
import { coreGroup, type MessageSchema } from '../../runtimehooks/index.ts';
import { resolved } from '../../runtimehooks/messages/index.ts';
import { controlPlaneOf } from '../control-planes/index.ts';

/** Kinds whose webhook for defaults decodes objects into Go's types, before their schema is checked. */
const withDefaultingWebhook = new Set([
  `${coreGroup}/v1beta2 Cluster`,
  `${coreGroup}/v1beta2 MachineDeployment`,
  `${coreGroup}/v1beta2 MachineHealthCheck`,
  `${coreGroup}/v1beta2 MachinePool`,
  'bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfigTemplate',
]);

/** The type of a component of the hooks' messages, with the names of its structs. Times and the like read themselves. */
function goTypeOf(schema: MessageSchema): GoType {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const { type, format = '', properties = {}, items, additionalProperties } = resolved(schema) ?? {};
  return {
    ...(type !== undefined && format !== 'date-time' && { type }),
    ...{ format, ...(reference !== undefined && { struct: reference.split('.').slice(-2).join('.') }) },
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, goTypeOf(field)])),
    ...(items && { items: goTypeOf(items) }),
    ...(additionalProperties && { additionalProperties: goTypeOf(additionalProperties) }),
  };
}

const goTypes = perObject(goTypeOf);

/** Of the kinds with a webhook for defaults, those of Clusters are in the hooks' messages, with Go's names. */
const clusterSpec: MessageSchema = {
  $ref: '#/components/schemas/sigs.k8s.io.cluster-api.api.core.v1beta2.ClusterSpec',
};

const kindOf = (object: JsonObject): string => `${textAt(object, 'apiVersion')} ${textAt(object, 'kind')}`;

/** Whether Cluster API's webhook for defaults is asked about objects of a kind, in v1beta2. */
export const hasDefaultingWebhook = (object: JsonObject): boolean =>
  controlPlaneOf(object)?.creationCauses !== undefined ||
  withDefaultingWebhook.has(kindOf(object).replace('/v1beta1 ', '/v1beta2 '));

/** Why the webhook for defaults cannot decode an object of v1beta2; undefined if it can, or if its kind has none. */
export function defaultingProblem(object: JsonObject, schema: Schema): string | undefined {
  if (!textAt(object, 'apiVersion').endsWith('/v1beta2') || !hasDefaultingWebhook(object)) {
    return undefined;
  }
  const kind = textAt(object, 'kind');
  // Of the structs within, their names are not known.
  const spec = { ...propertyOf(schema, 'spec'), struct: `v1beta2.${kind}Spec` };
  const type = kind === 'Cluster' ? goTypes(clusterSpec) : spec;
  return decodingProblem(object.spec ?? null, type, kind, 'spec');
}

/** The type of a variable's schema, whose parts are schemas again: for the definition of the kind, they may be anything. */
const variableSchema = perObject((schema: Schema): GoType => {
  const properties: Record<string, GoType> = { ...schema.properties };
  const whole: GoType = { type: 'object', struct: 'v1beta2.JSONSchemaProps', properties };
  const schemas: GoType = { type: 'array', items: whole };
  Object.assign(properties, { additionalProperties: whole, items: whole, not: whole });
  Object.assign(properties, { allOf: schemas, anyOf: schemas, oneOf: schemas });
  properties.properties = { type: 'object', additionalProperties: whole };
  return whole;
});

/** Why the webhook for ClusterClasses cannot decode the schemas of variables; undefined if it can, or for other kinds. */
export function validatingProblem(object: JsonObject, schema: Schema): string | undefined {
  if (kindOf(object) !== `${coreGroup}/v1beta2 ClusterClass`) {
    return undefined;
  }
  const { items } = schema.properties?.spec?.properties?.variables ?? {};
  const part = items?.properties?.schema?.properties?.openAPIV3Schema;
  const path = 'spec.variables.schema.openAPIV3Schema';
  for (const variable of objectsAt(object, 'spec', 'variables')) {
    const given = fieldAt(variable, 'schema', 'openAPIV3Schema') ?? null;
    const problem = part && decodingProblem(given, variableSchema(part), 'VariableSchema', path);
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}
