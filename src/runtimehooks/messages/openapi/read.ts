import { parseSmallYaml, YamlError } from '../../../base/yaml/index.ts';
import { isJsonObject, itemsAt, type Json, type JsonObject, own } from '../../../kubernetes/index.ts';
import { componentPrefix } from '../../catalog/schema.ts';
import { componentOf } from '../components.ts';

/** Why a text is not an OpenAPI document of hooks, in one line. */
export class OpenApiError extends Error {}

export interface DocumentedHook {
  path: string;
  group: string;
  version: string;
  /** Its name in the path, in lower case. */
  hook: string;
  parameters: readonly string[];
  isDeprecated: boolean;
  request: JsonObject;
  response: JsonObject;
}

export interface HookDocument {
  /** `info.version`. */
  version: string;
  hooks: readonly DocumentedHook[];
  schemas: ReadonlyMap<string, JsonObject>;
}

/** Maximum number of hooks, and of schemas, in a document: Cluster API's has 17 and 131. */
const maxEntries = 10_000;

function findObject(value: unknown, ...path: string[]): JsonObject | undefined {
  let current: unknown = value;
  for (const key of path) {
    current = isJsonObject(current) ? own(current, key) : undefined;
  }
  return isJsonObject(current) ? current : undefined;
}

/** Maximum number of references that lead to a schema: one to another is rare, and one to itself is a mistake. */
const maxHops = 10;
function hookOf(path: string, operation: JsonObject): DocumentedHook {
  const [, group = '', version = '', hook = '', ...rest] = path.split('/');
  const json = ['content', 'application/json', 'schema'];
  const where = `paths ${JSON.stringify(path)}`;
  const request = findObject(operation, 'requestBody', ...json);
  const response = findObject(operation, 'responses', '200', ...json);
  const parameters = rest.filter((segment) => segment.startsWith('{') && segment.endsWith('}'));
  if (hook === '' || parameters.length !== rest.length || request === undefined || response === undefined) {
    throw new OpenApiError(
      `${where}: a hook is a POST to /GROUP/VERSION/HOOK or /GROUP/VERSION/HOOK/{name}, with a request and a response 200 in application/json; only schemas may be references`,
    );
  }
  return {
    path,
    group,
    version,
    hook,
    parameters: parameters.map((segment) => segment.slice(1, -1)),
    isDeprecated: operation.deprecated === true,
    request,
    response,
  };
}

/** The reference that a schema consists of, also as the only part of `allOf`. */
function referenceOf(schema: JsonObject): string | undefined {
  const all = schema.allOf;
  const [only] = Array.isArray(all) && all.length === 1 ? all : [];
  const reference: Json | undefined = schema.$ref ?? (isJsonObject(only) ? only.$ref : undefined);
  return typeof reference === 'string' ? reference : undefined;
}

/**
 * The schema that references lead to, which is the given one if it is not a reference.
 *
 * @returns undefined for references that lead to nothing in the document, and for those that lead in circles.
 */
export function resolved(schema: Json | undefined, schemas: ReadonlyMap<string, JsonObject>): JsonObject | undefined {
  let current: Json | undefined = schema;
  for (let hops = 0; hops <= maxHops && isJsonObject(current); hops++) {
    const reference = referenceOf(current);
    if (reference === undefined) {
      return current;
    }
    current = reference.startsWith(componentPrefix) ? schemas.get(componentOf(reference)) : undefined;
  }
  return undefined;
}

/** The schemas directly within a schema. */
function partsOf(schema: JsonObject): Json[] {
  const lists = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => itemsAt(list));
  const named = isJsonObject(schema.properties) ? Object.values(schema.properties) : [];
  return [...lists, ...named, schema.items ?? null, schema.additionalProperties ?? null, schema.not ?? null];
}

/** @throws {OpenApiError} for a reference to a schema that is missing: it would be the same as a schema of anything. */
function checkReferences(
  roots: readonly (readonly [where: string, schema: JsonObject])[],
  schemas: ReadonlyMap<string, JsonObject>,
): void {
  const seen = new Set<JsonObject>();
  for (const [where, root] of roots) {
    const waiting: Json[] = [root];
    for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
      if (!isJsonObject(schema) || seen.has(schema)) {
        continue;
      }
      seen.add(schema);
      const reference = referenceOf(schema);
      if (reference !== undefined && resolved(schema, schemas) === undefined) {
        throw new OpenApiError(
          `${where}: $ref ${JSON.stringify(reference.slice(0, 300))} does not lead to a schema in components.schemas of this document: correct it, or add the schema`,
        );
      }
      for (const part of partsOf(schema)) {
        waiting.push(part);
      }
    }
  }
}

/**
 * Reads an OpenAPI document of hooks from YAML or JSON, in time linear in its length.
 *
 * @throws {OpenApiError} when the text is not such a document.
 */
export function readHookDocument(text: string): HookDocument {
  let content: unknown;
  try {
    content = parseSmallYaml(text, text.length);
  } catch (error) {
    throw error instanceof YamlError ? new OpenApiError(`is not valid YAML: ${error.message}`) : error;
  }
  const paths = findObject(content, 'paths');
  if (!isJsonObject(content) || typeof content.openapi !== 'string' || paths === undefined) {
    throw new OpenApiError('is not an OpenAPI document: it has no "openapi" and "paths"');
  }
  if (!/^3\.[01]\.\d+$/.test(content.openapi)) {
    throw new OpenApiError(
      `is OpenAPI ${JSON.stringify(content.openapi.slice(0, 20))}; documents of 3.0 and 3.1 can be read`,
    );
  }
  const schemas = Object.entries(findObject(content, 'components', 'schemas') ?? {});
  const operations = Object.entries(paths).flatMap(([path, item]) => {
    // A reference to a path item is not followed, but what it refers to may be a hook.
    const post = findObject(item, 'post') ?? (isJsonObject(item) && item.$ref !== undefined ? {} : undefined);
    return post === undefined ? [] : [[path, post] as const];
  });
  if (schemas.length > maxEntries || operations.length > maxEntries) {
    throw new OpenApiError(`has more than ${maxEntries} paths or schemas`);
  }
  const byName = new Map(schemas.filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])));
  const hooks = operations.map(([path, operation]) => hookOf(path, operation));
  checkReferences(
    [
      ...hooks.flatMap(({ path, request, response }) =>
        [request, response].map((schema) => [`paths ${JSON.stringify(path)}`, schema] as const),
      ),
      ...[...byName].map(
        ([name, schema]) => [`components.schemas ${JSON.stringify(name.slice(0, 300))}`, schema] as const,
      ),
    ],
    byName,
  );
  const version = findObject(content, 'info')?.version;
  return { version: typeof version === 'string' ? version : '', hooks, schemas: byName };
}
