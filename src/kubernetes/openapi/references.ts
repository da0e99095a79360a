import { isJsonObject, type Json, type JsonObject } from '../objects/json/json.ts';
import { keyOfToken, pointerToken } from '../objects/json/json-patch.ts';

/** The new name of a component (`schemas`, `responses`, …), or of an operation, whose section is `operationId`. */
export type Rename = (section: string, name: string) => string;

/** A reference to a component, or to a part of it. API servers leave references in the form of OpenAPI v2 in an allOf. */
const toComponent = /^#\/(?:components\/([^/]*)|definitions)\/([^/]+)(\/.*)?$/s;

function unescaped(token: string): string {
  try {
    return keyOfToken(decodeURIComponent(token));
  } catch {
    // Not an escape: the name contains a percent sign.
    return keyOfToken(token);
  }
}

function renamedReference(text: string, rename: Rename): string {
  const [, section = 'schemas', token, rest = ''] = toComponent.exec(text) ?? [];
  if (token === undefined) {
    return text;
  }
  const name = unescaped(token);
  const newName = rename(section, name);
  return newName === name && !text.startsWith('#/definitions/')
    ? text
    : `#/components/${section}/${pointerToken(newName).replaceAll('%', '%25')}${rest}`;
}

/** Fields that are maps: their keys are arbitrary names, and their values have the type of the field. */
const fieldsOfNames = new Set([
  ...['callbacks', 'content', 'definitions', 'dependencies', 'encoding', 'headers', 'links', 'parameters', 'paths'],
  ...['patternProperties', 'properties', 'requestBodies', 'responses', 'schemas', 'securitySchemes'],
]);

/** Fields whose values are data, in which there are no references. */
const fieldsOfData = new Set(['default', 'enum', 'example', 'value', 'scopes', 'variables']);

function renamedRequirements(requirements: Json[], rename: Rename): Json[] {
  return requirements.map((requirement) =>
    isJsonObject(requirement)
      ? Object.fromEntries(
          Object.entries(requirement).map(([name, scopes]) => [rename('securitySchemes', name), scopes]),
        )
      : requirement,
  );
}

/** Visits the values of a map with arbitrary names; returns the input itself if nothing changes. */
function visitValues(value: JsonObject, visit: (item: Json, key: string) => Json): JsonObject {
  const entries = Object.entries(value).map(([key, item]) => [key, visit(item, key)] as const);
  return entries.some(([key, visited]) => visited !== value[key]) ? Object.fromEntries(entries) : value;
}

/**
 * Renames what a part of an OpenAPI v3 document refers to, but not data that look like references; references in the form of
 * v2 are corrected. The same objects wherever nothing changed.
 */
export function renameReferences(part: Json, rename: Rename): Json {
  if (Array.isArray(part)) {
    const result = part.map((item) => renameReferences(item, rename));
    return result.some((item, index) => item !== part[index]) ? result : part;
  }
  if (!isJsonObject(part)) {
    return part;
  }
  return visitValues(part, (value, key) => {
    if (key === '$ref' && typeof value === 'string') {
      return renamedReference(value, rename);
    }
    // Of an operation, or of one that a link leads to.
    if (key === 'operationId' && typeof value === 'string') {
      return rename('operationId', value);
    }
    if (typeof value !== 'object' || value === null || fieldsOfData.has(key) || key.startsWith('x-')) {
      return value;
    }
    if (key === 'security' && Array.isArray(value)) {
      return renamedRequirements(value, rename);
    }
    if (key === 'mapping' && isJsonObject(value)) {
      // Of a discriminator.
      return visitValues(value, (target) => (typeof target === 'string' ? renamedReference(target, rename) : target));
    }
    if (key === 'examples') {
      // An example is data, unless it is a reference to one.
      return isJsonObject(value)
        ? visitValues(value, (item) => (isJsonObject(item) && '$ref' in item ? renameReferences(item, rename) : item))
        : value;
    }
    if (fieldsOfNames.has(key) && isJsonObject(value)) {
      return visitValues(value, (item) => renameReferences(item, rename));
    }
    return renameReferences(value, rename);
  });
}
