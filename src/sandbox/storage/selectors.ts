import {
  fieldAt,
  type JsonObject,
  type LabelSelectorRequirement,
  labelSelectorProblems,
  objectAt,
  selectsLabels,
} from '../../kubernetes/index.ts';
import { badRequest } from '../resources/errors.ts';
import type { Resource } from '../resources/resource.ts';

export type Selector = (object: JsonObject) => boolean;

function unable(text: string, why: string) {
  return badRequest(`unable to parse requirement in selector ${JSON.stringify(text)}: ${why}`);
}

/** One requirement, with the comma before the next. */
const requirement =
  /\s*(?:!\s*(?<absent>[^\s=!(),]+)|(?<key>[^\s=!(),]+)(?:\s*(?<equality>==?|!=)(?:\s*(?<value>[^\s=!(),]+))?|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,(?!$)|$)/gy;

function requirementsOf(text: string): LabelSelectorRequirement[] {
  let end = 0;
  const requirements = [...text.matchAll(requirement)].map(({ 0: whole, groups = {} }): LabelSelectorRequirement => {
    end += whole.length;
    const { absent, key = '', equality, value = '', set, values = '' } = groups;
    if (absent !== undefined) {
      return { key: absent, operator: 'DoesNotExist' };
    }
    if (equality !== undefined) {
      return { key, operator: equality === '!=' ? 'NotIn' : 'In', values: [value] };
    }
    return set === undefined
      ? { key, operator: 'Exists' }
      : { key, operator: set === 'in' ? 'In' : 'NotIn', values: values.split(',').map((one) => one.trim()) };
  });
  if (end < text.length) {
    const forms = 'must have one of the forms k, !k, k=v, k!=v, k in (a,b), k notin (a,b)';
    throw unable(text, `${JSON.stringify(text.slice(end).trim())} ${forms}`);
  }
  return requirements;
}

/** The labels of an object, without values that are not strings. */
export function labelsOf(object: JsonObject): Record<string, string> {
  return objectAt(object, 'metadata', 'labels') as Record<string, string>;
}

/** Parses the `labelSelector` query parameter. @throws {RequestError} 400 when it is malformed. */
export function parseLabelSelector(text: string): Selector {
  if (text.trim() === '') {
    return () => true;
  }
  const matchExpressions = requirementsOf(text);
  const [problem] = labelSelectorProblems({ matchExpressions });
  if (problem !== undefined) {
    throw unable(text, problem.message);
  }
  return (object) => selectsLabels({ matchExpressions }, labelsOf(object));
}

/**
 * Parses the `fieldSelector` query parameter.
 *
 * @throws {RequestError} 400 when it is malformed or names a field that the resource cannot be selected by.
 */
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
