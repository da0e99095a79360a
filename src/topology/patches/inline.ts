import {
  encodedPatch,
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  own,
  textAt,
} from '../../kubernetes/index.ts';
import type { ClassPatch } from '../blueprint/blueprint.ts';

/** Why an inline patch cannot be generated, in Cluster API's words. */
export class InlinePatchError extends Error {}

const hasTemplate = ({ valueFrom }: JsonObject) => textAt(valueFrom, 'template') !== '';

/** The fields of a patch that are Go templates, which a rehearsal does not evaluate. */
export function templatesOf({ enabledIf, definitions }: ClassPatch): string[] {
  const operations = definitions.flatMap(({ jsonPatches }) => objectsAt(jsonPatches));
  return [...(enabledIf === '' ? [] : ['enabledIf']), ...(operations.some(hasTemplate) ? ['valueFrom.template'] : [])];
}

/** The values of variables by their names. */
const valuesIn = (holder: JsonObject): [string, Json][] =>
  objectsAt(holder, 'variables').map(({ name, value = null }) => [String(name), value]);

/** A value within a variable, by a path such as `builtin.controlPlane.version` or `disks[0].size`. */
function valueAt(variables: ReadonlyMap<string, Json>, path: string): Json {
  const [first = '', ...inner] = path.split('.');
  let value: Json | undefined;
  for (const segment of [first, ...inner]) {
    const [, name = '', index] = /^([^[]{0,200})(?:\[(\d{1,9})])?/.exec(segment) ?? [];
    const holder = value;
    value = holder === undefined ? variables.get(name) : isJsonObject(holder) ? own(holder, name) : undefined;
    if (value === undefined) {
      const what = holder === undefined ? first : path;
      const where = holder === undefined ? '' : `: failed to lookup segment ${JSON.stringify(name)}`;
      throw new InlinePatchError(`variable ${JSON.stringify(what)} does not exist${where}`);
    }
    if (index !== undefined) {
      value = Array.isArray(value) ? value[Number(index)] : undefined;
      if (value === undefined) {
        throw new InlinePatchError(`variable ${JSON.stringify(path)} is invalid: array does not have index ${index}`);
      }
    }
  }
  return value ?? null;
}

/** Whether a definition is for an item of a request (matchesSelector in patches/inline/json_patch_generator.go). */
function isFor({ object, holderReference: holder, variables }: JsonObject, { selector }: JsonObject): boolean {
  const { machineDeploymentClass, machinePoolClass, infrastructureCluster, controlPlane } = objectAt(
    selector,
    'matchResources',
  );
  const isSame = (field: string) => textAt(object, field) === textAt(selector, field);
  if (!isSame('apiVersion') || !isSame('kind')) {
    return false;
  }
  const builtin = objectsAt(variables).find(({ name }) => name === 'builtin');
  const isOneOf = (classes: Json | undefined, part: string) => {
    const name = textAt(builtin, 'value', part, 'class');
    return itemsAt(classes, 'names').some(
      (pattern) =>
        typeof pattern === 'string' &&
        (pattern === name ||
          (pattern.startsWith('*') && name.endsWith(pattern.slice(1))) ||
          (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))),
    );
  };
  switch (textAt(holder, 'kind')) {
    case 'MachineDeployment':
      return isOneOf(machineDeploymentClass, 'machineDeployment');
    case 'MachinePool':
      return isOneOf(machinePoolClass, 'machinePool');
    default:
      return textAt(holder, 'fieldPath') === 'spec.infrastructureRef'
        ? infrastructureCluster === true
        : controlPlane === true;
  }
}

/** The operations of a definition whose values are no Go templates. */
const operationsOf = ({ jsonPatches }: JsonObject, variables: ReadonlyMap<string, Json>): JsonObject[] =>
  objectsAt(jsonPatches)
    .filter((operation) => !hasTemplate(operation))
    .map(({ op = '', path = '', value, valueFrom }) =>
      op === 'remove' ? { op, path } : { op, path, value: value ?? valueAt(variables, textAt(valueFrom, 'variable')) },
    );

/**
 * What an inline patch of a class answers to a request of GeneratePatches: the items of the response. Whether a patch
 * with `enabledIf` is enabled is not known here, and it is not applied.
 *
 * @throws {InlinePatchError} for a variable that does not exist.
 */
export function generateInline({ definitions, enabledIf }: ClassPatch, request: JsonObject): JsonObject[] {
  const errors = new Set<string>();
  const cluster = new Map(valuesIn(request));
  const items = objectsAt(request, 'items').flatMap((item): JsonObject[] => {
    const place = new Map(valuesIn(item));
    const builtin = { ...objectAt(cluster.get('builtin')), ...objectAt(place.get('builtin')) };
    const variables = new Map([...cluster, ...place, ['builtin', builtin]]);
    return definitions
      .filter((definition) => enabledIf === '' && isFor(item, definition))
      .flatMap((definition): JsonObject[] => {
        try {
          const patch = encodedPatch(operationsOf(definition, variables));
          return [{ uid: item.uid ?? '', patchType: 'JSONPatch', patch }];
        } catch (error) {
          if (!(error instanceof InlinePatchError)) {
            throw error;
          }
          const kind = JSON.stringify(textAt(item, 'object', 'kind'));
          errors.add(`failed to generate JSON patches for ${kind}: failed to calculate value: ${error.message}`);
          return [];
        }
      });
  });
  if (errors.size > 0) {
    const text = [...errors].join(', ');
    throw new InlinePatchError(errors.size === 1 ? text : `[${text}]`);
  }
  return items;
}
