import { parseSmallYaml, YamlError } from '../../files/index.ts';
import { isJsonObject, type JsonObject } from '../../kubernetes/index.ts';

/** Why a text is not an OpenAPI document of hooks, in one line. */
export class OpenApiError extends Error {}

/** A hook as described in a document. */
export interface DocumentedHook {
  path: string;
  group: string;
  version: string;
  /** Its name in the path, in lower case. */
  hook: string;
  /** Names of the path parameters. */
  parameters: readonly string[];
  isDeprecated: boolean;
  request: JsonObject;
  response: JsonObject;
}

/** The hooks in a document. */
export interface HookDocument {
  /** `info.version`. */
  version: string;
  hooks: readonly DocumentedHook[];
  schemas: ReadonlyMap<string, JsonObject>;
}

/** Maximum number of hooks, and of schemas, in a document: Cluster API's has 17 and 131. */
const maxEntries = 10_000;

function objectAt(value: unknown, ...path: string[]): JsonObject | undefined {
  let current: unknown = value;
  for (const key of path) {
    current = isJsonObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return isJsonObject(current) ? current : undefined;
}

function hookOf(path: string, operation: JsonObject): DocumentedHook {
  const [, group = '', version = '', hook = '', ...rest] = path.split('/');
  const json = ['content', 'application/json', 'schema'];
  const request = objectAt(operation, 'requestBody', ...json);
  const response = objectAt(operation, 'responses', '200', ...json);
  const parameters = rest.filter((segment) => segment.startsWith('{') && segment.endsWith('}'));
  if (hook === '' || parameters.length !== rest.length || request === undefined || response === undefined) {
    throw new OpenApiError(
      `paths ${JSON.stringify(path)}: a hook is a POST to /GROUP/VERSION/HOOK or /GROUP/VERSION/HOOK/{name}, with a request and a response 200 in application/json`,
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
  const paths = objectAt(content, 'paths');
  if (!isJsonObject(content) || typeof content.openapi !== 'string' || paths === undefined) {
    throw new OpenApiError('is not an OpenAPI document: it has no "openapi" and "paths"');
  }
  if (!/^3\.[01]\.\d+$/.test(content.openapi)) {
    throw new OpenApiError(
      `is OpenAPI ${JSON.stringify(content.openapi.slice(0, 20))}; documents of 3.0 and 3.1 can be read`,
    );
  }
  const schemas = Object.entries(objectAt(content, 'components', 'schemas') ?? {});
  const operations = Object.entries(paths).flatMap(([path, item]) => {
    const post = objectAt(item, 'post');
    return post === undefined ? [] : [[path, post] as const];
  });
  if (schemas.length > maxEntries || operations.length > maxEntries) {
    throw new OpenApiError(`has more than ${maxEntries} paths or schemas`);
  }
  const version = objectAt(content, 'info')?.version;
  return {
    version: typeof version === 'string' ? version : '',
    hooks: operations.map(([path, operation]) => hookOf(path, operation)),
    schemas: new Map(schemas.filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))),
  };
}
