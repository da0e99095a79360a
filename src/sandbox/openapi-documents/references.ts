import { isJsonObject, type Json, type JsonObject, keyOfToken, pointerToken } from '../../kubernetes/index.ts';

export interface ComponentReference {
  /** `schemas`, `parameters`, … */
  section: string;
  name: string;
  /** The rest of the reference, to a part of the component: empty, or with a leading slash. */
  rest: string;
}

const componentPrefix = '#/components/';

function unescaped(token: string): string {
  let text = token;
  if (token.includes('%')) {
    try {
      text = decodeURIComponent(token);
    } catch {
      // Not an escape: the name contains a percent sign.
    }
  }
  return keyOfToken(text);
}

/** Parses `#/components/SECTION/NAME`. @returns undefined for references to anything else. */
export function parseReference(reference: string): ComponentReference | undefined {
  if (!reference.startsWith(componentPrefix)) {
    return undefined;
  }
  const [section = '', name, ...rest] = reference.slice(componentPrefix.length).split('/');
  return name === undefined || name === ''
    ? undefined
    : { section, name: unescaped(name), rest: rest.map((part) => `/${part}`).join('') };
}

export function formatReference({ section, name, rest }: ComponentReference): string {
  return `${componentPrefix}${section}/${pointerToken(name).replaceAll('%', '%25')}${rest}`;
}

/** Fields that are maps: their keys are arbitrary names, and their values have the type of the field. */
const fieldsOfNames = new Set([
  'callbacks',
  'content',
  'definitions',
  'dependencies',
  'encoding',
  'headers',
  'parameters',
  'paths',
  'patternProperties',
  'properties',
  'requestBodies',
  'responses',
  'schemas',
  'securitySchemes',
]);

/** Fields whose values are data, in which there are no references. */
const fieldsOfData = new Set(['default', 'enum', 'example', 'value', 'scopes', 'variables']);

/** Replaces references in a part of a document. Each function returns the replacement for its argument. */
interface ReferenceVisitor {
  reference(text: string): string;
  securityScheme?(name: string): string;
  /** Replaces the id of an operation, and that in a link; `holder` is the operation. */
  operation?(id: string, holder: JsonObject): string;
  link?(id: string): string;
}

function visitRequirements(value: Json, visitor: ReferenceVisitor): Json {
  const rename = visitor.securityScheme;
  if (rename === undefined || !Array.isArray(value)) {
    return value;
  }
  return value.map((requirement) =>
    isJsonObject(requirement)
      ? Object.fromEntries(Object.entries(requirement).map(([name, scopes]) => [rename(name), scopes]))
      : requirement,
  );
}

/** Visits the `mapping` of a discriminator: values are references, or names of schemas. */
function visitDiscriminator(value: Json, visitor: ReferenceVisitor): Json {
  if (!isJsonObject(value) || !isJsonObject(value.mapping)) {
    return value;
  }
  const mapping = visitValues(value.mapping, (target) => {
    const isName = typeof target === 'string' && /^[\w.-]+$/.test(target);
    const reference = isName ? formatReference({ section: 'schemas', name: target, rest: '' }) : target;
    return typeof reference === 'string' ? visitor.reference(reference) : reference;
  });
  return { ...value, mapping };
}

/** Visits the values of a map with arbitrary names; returns the input itself if nothing changes. */
export function visitValues(value: JsonObject, visit: (item: Json, key: string) => Json): JsonObject {
  const entries = Object.entries(value).map(([key, item]) => [key, visit(item, key)] as const);
  return entries.some(([key, visited]) => visited !== value[key]) ? Object.fromEntries(entries) : value;
}

/**
 * Visits the references in a part of an OpenAPI v3 document, as opposed to properties and data that look like
 * references. The work is linear; the part must not nest deeper than the stack allows.
 *
 * @returns the part with the visitor's replacements; the same objects wherever nothing changed.
 */
export function visitReferences(part: Json, visitor: ReferenceVisitor): Json {
  if (Array.isArray(part)) {
    const result = part.map((item) => visitReferences(item, visitor));
    return result.some((item, index) => item !== part[index]) ? result : part;
  }
  if (!isJsonObject(part)) {
    return part;
  }
  return visitValues(part, (value, key) => {
    if (key === '$ref' && typeof value === 'string') {
      return visitor.reference(value);
    }
    if (key === 'operationId' && typeof value === 'string') {
      return visitor.operation?.(value, part) ?? value;
    }
    if (typeof value !== 'object' || value === null || fieldsOfData.has(key) || key.startsWith('x-')) {
      return value;
    }
    if (key === 'security') {
      return visitRequirements(value, visitor);
    }
    if (key === 'discriminator') {
      return visitDiscriminator(value, visitor);
    }
    if (key === 'examples') {
      // An example is data, unless it is a reference to one.
      return isJsonObject(value)
        ? visitValues(value, (item) => (isJsonObject(item) && '$ref' in item ? visitReferences(item, visitor) : item))
        : value;
    }
    if (key === 'links' && isJsonObject(value)) {
      const { operation: _, link: operation, ...others } = visitor;
      const inLinks = operation === undefined ? others : { ...others, operation };
      return visitValues(value, (link) => visitReferences(link, inLinks));
    }
    if (fieldsOfNames.has(key) && isJsonObject(value)) {
      return visitValues(value, (item) => visitReferences(item, visitor));
    }
    return visitReferences(value, visitor);
  });
}
