import { decodingProblem, type GoType, goTypeOf } from '../../kubernetes/custom-resources/index.ts';
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

/** The type of a component of the hooks' messages, with the names of its structs. */
function goTypeOfMessage(schema: MessageSchema): GoType {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const { type, format = '', properties = {}, items, additionalProperties } = resolved(schema) ?? {};
  const element = items ?? additionalProperties;
  return {
    // Times and the like read themselves.
    ...(type !== undefined && format !== 'date-time' && { type }),
    format,
    ...(reference !== undefined && { struct: reference.split('.').slice(-2).join('.') }),
    field: (name) => {
      const field = properties[name];
      return field && goTypeOfMessage(field);
    },
    ...(element && { element: () => goTypeOfMessage(element) }),
  };
}

/** Of the kinds with a webhook for defaults, those of Clusters are in the hooks' messages, with Go's names. */
const clusterSpec = goTypeOfMessage({
  $ref: '#/components/schemas/sigs.k8s.io.cluster-api.api.core.v1beta2.ClusterSpec',
});

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
  const spec = propertyOf(schema, 'spec');
  const kind = textAt(object, 'kind');
  // Of the structs within, their names are not known.
  const type = kind === 'Cluster' ? clusterSpec : goTypeOf(spec ?? {}, `v1beta2.${kind}Spec`);
  return decodingProblem(object.spec ?? null, type, kind, 'spec');
}

const schemaStruct = 'v1beta2.JSONSchemaProps';
const ofOneSchema = new Set(['additionalProperties', 'items', 'not']);
const ofSchemas = new Set(['allOf', 'anyOf', 'oneOf']);

/** The type of a variable's schema, whose parts are schemas again: for the definition of the kind, they may be anything. */
const variableSchema = perObject((schema: Schema): GoType => {
  const whole: GoType = {
    type: 'object',
    struct: schemaStruct,
    field: (name) => {
      if (ofOneSchema.has(name)) {
        return whole;
      }
      if (ofSchemas.has(name)) {
        return { type: 'array', element: () => whole };
      }
      const field = propertyOf(schema, name);
      return name === 'properties' ? { type: 'object', element: () => whole } : field && goTypeOf(field);
    },
  };
  return whole;
});

/**
 * Why the webhook that validates ClusterClasses cannot decode one whose schema holds: the schemas of its variables; undefined
 * if it can, or for objects of other kinds.
 */
export function validatingProblem(object: JsonObject, schema: Schema): string | undefined {
  if (kindOf(object) !== `${coreGroup}/v1beta2 ClusterClass`) {
    return undefined;
  }
  const places = ['spec', 'variables', 'items', 'schema', 'openAPIV3Schema'];
  const part = places.reduce<Schema | undefined>(
    (at, name) => at && (name === 'items' ? at.items : propertyOf(at, name)),
    schema,
  );
  const path = places.filter((name) => name !== 'items').join('.');
  for (const variable of objectsAt(object, 'spec', 'variables')) {
    const given = fieldAt(variable, 'schema', 'openAPIV3Schema') ?? null;
    const problem = part && decodingProblem(given, variableSchema(part), 'VariableSchema', path);
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}
