import {
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  type PatchOperation,
  textAt,
} from '../../kubernetes/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import { type MatchResources, matchesResources } from '../../runtimehooks/index.ts';
import type { ClassPatch } from '../blueprint/blueprint.ts';
import {
  isPatchEnabled,
  type OwnWordReads,
  renderValueTemplate,
  TemplateError,
  variableValue,
  within,
} from '../templates/index.ts';
import { NotKnown } from '../world/not-known.ts';
import type { Item } from './items.ts';

/** Whether a definition is for a template (matchesSelector in patches/inline/json_patch_generator.go). */
function isFor(item: Item, { selector }: JsonObject): boolean {
  const isSame = (field: string) => textAt(item.object, field) === textAt(selector, field);
  return (
    isSame('apiVersion') &&
    isSame('kind') &&
    matchesResources(objectAt(selector, 'matchResources') as MatchResources, item)
  );
}

/** The value of an operation that adds or replaces (calculateValue in patches/inline/json_patch_generator.go). */
function computedValue({ value, valueFrom }: JsonObject, variables: JsonObject, reads?: OwnWordReads): Json {
  const failed = (why: string) => new TemplateError(`failed to calculate value: ${why}`);
  const [variable, template] = [textAt(valueFrom, 'variable'), textAt(valueFrom, 'template')];
  const isFrom = isJsonObject(valueFrom);
  if (value === undefined && !isFrom) {
    throw failed('neither .value nor .valueFrom are set');
  }
  if (value !== undefined && isFrom) {
    throw failed('both .value and .valueFrom are set');
  }
  if (value !== undefined) {
    return value;
  }
  if (variable !== '' && template !== '') {
    throw failed('.valueFrom is set, but both .valueFrom.variable and .valueFrom.template are set');
  }
  if (template !== '') {
    return renderValueTemplate(template, variables);
  }
  const taken = variableValue(variable, variables);
  reads?.noteValue(taken);
  return taken;
}

function operationOf(patch: JsonObject, variables: JsonObject, reads?: OwnWordReads): PatchOperation {
  const [op, path] = [textAt(patch, 'op'), textAt(patch, 'path')];
  return op === 'add' || op === 'replace'
    ? { op, path, value: computedValue(patch, variables, reads) }
    : { op: op as 'remove', path };
}

/**
 * Returns the effect of a class's inline patch on the templates of a Cluster.
 *
 * @throws {TemplateError} for templates that fail, and variables that do not exist: all of them at once.
 * @throws {NotKnown} for a template whose result is not known.
 */
export function generateInline(
  patch: ClassPatch,
  items: readonly Item[],
  variablesAt: (item: Item) => JsonObject,
  reads?: OwnWordReads,
): { item: Item; operations: PatchOperation[] }[] {
  const errors = new Set<string>();
  const result: ReturnType<typeof generateInline> = [];
  const collect = (what: () => string, act: () => void) => {
    try {
      within(what, act);
    } catch (error) {
      if (!(error instanceof TemplateError)) {
        throw error;
      }
      errors.add(error.message);
    }
  };
  for (const item of items) {
    const matching = patch.definitions.filter((definition) => isFor(item, definition));
    if (matching.length === 0) {
      continue;
    }
    const variables = variablesAt(item);
    const kind = JSON.stringify(textAt(item.object, 'kind'));
    const patches = matching.map((definition) => objectsAt(definition, 'jsonPatches'));
    try {
      let isEnabled = false;
      collect(
        () => `failed to calculate if patch is enabled for ${kind}`,
        () => {
          isEnabled = isPatchEnabled(patch.enabledIf, variables);
        },
      );
      for (const one of isEnabled ? patches : []) {
        collect(
          () => `failed to generate JSON patches for ${kind}`,
          () => result.push({ item, operations: one.map((operation) => operationOf(operation, variables, reads)) }),
        );
      }
    } finally {
      const paths = patches.flat().map((operation) => textAt(operation, 'path'));
      const outcomeWith = (others: JsonObject) => outcomeOf(patch, item, others);
      reads?.endPatch({ variables, object: item.object, paths, outcomeWith });
    }
  }
  if (errors.size > 0) {
    throw new TemplateError(aggregate([...errors]));
  }
  return result;
}

function outcomeOf(patch: ClassPatch, item: Item, variables: JsonObject): string {
  try {
    return JSON.stringify(generateInline(patch, [item], () => variables).map(({ operations }) => operations));
  } catch (error) {
    if (!(error instanceof TemplateError || error instanceof NotKnown)) {
      throw error;
    }
    return error.message;
  }
}

/** Names of the variables that an inline patch reads: `auditLevel`, `builtin.controlPlane.version`. */
export function variablesRead({ definitions, enabledIf }: ClassPatch): string[] {
  const operations = definitions.flatMap((definition) => objectsAt(definition, 'jsonPatches'));
  const templates = [enabledIf, ...operations.map((operation) => textAt(operation, 'valueFrom', 'template'))];
  const names = operations.map((operation) => textAt(operation, 'valueFrom', 'variable')).filter((name) => name !== '');
  for (const template of templates) {
    for (const [, action = ''] of template.matchAll(/\{\{([^}]{0,10000})/g)) {
      for (const [, name = ''] of action.matchAll(/(?:^|[\s(|$])\.([A-Za-z_][A-Za-z0-9_.]{0,200})/g)) {
        names.push(name);
      }
    }
  }
  return [...new Set(names)];
}

/** The value that a variable has at a path such as `builtin.controlPlane.version`; undefined if it has none. */
export const valueAtPath = (variables: JsonObject, path: string): Json | undefined =>
  fieldAt(variables, ...path.replaceAll(/\[\d{1,9}]/g, '').split('.'));
