import { fieldAt, type JsonObject, objectAt, readLabelSelector } from '../../kubernetes/index.ts';
import { badRequest } from '../resources/errors.ts';
import type { Resource } from '../resources/resource.ts';

export type Selector = (object: JsonObject) => boolean;

export function labelsOf(object: JsonObject): Record<string, string> {
  return objectAt(object, 'metadata', 'labels') as Record<string, string>;
}

/** Parses the `labelSelector` query parameter. @throws {RequestError} 400 when it is malformed. */
export function parseLabelSelector(text: string): Selector {
  if (text.trim() === '') {
    return () => true;
  }
  const selector = readLabelSelector(text);
  if (typeof selector === 'function') {
    return (object) => selector(labelsOf(object));
  }
  throw badRequest(`unable to parse requirement in selector ${JSON.stringify(text)}: ${selector.problem}`);
}

/** Parses the `fieldSelector` query parameter. @throws {RequestError} 400, also for a field that the resource lacks. */
export function parseFieldSelector(text: string, resource: Resource): Selector {
  if (text.trim() === '') {
    return () => true;
  }
  const terms = text.split(',').map((part) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part.trim());
    if (match === null) {
      throw badRequest(`invalid field selector: ${JSON.stringify(part)}; write FIELD=VALUE or FIELD!=VALUE`);
    }
    const field = match[1] as string;
    const known = ['metadata.name', 'metadata.namespace', ...resource.selectableFields];
    if (!known.includes(field)) {
      throw badRequest(`field label not supported: ${field}`);
    }
    return { path: field.split('.'), wants: match[2] !== '!=', value: match[3] as string };
  });
  return (object) =>
    terms.every(({ path, wants, value }) => (String(fieldAt(object, ...path) ?? '') === value) === wants);
}
