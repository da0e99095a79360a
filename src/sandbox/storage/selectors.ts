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

/** Whether an object matches. */
export type Selector = (object: JsonObject) => boolean;

function unable(text: string, why: string) {
  return badRequest(`unable to parse requirement in selector ${JSON.stringify(text)}: ${why}`);
}

/** Splits at commas that are not inside parentheses. */
function requirementsOf(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === '(') {
      depth += 1;
    } else if (character === ')') {
      depth = Math.max(0, depth - 1);
    } else if (character === undefined || (character === ',' && depth === 0)) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return parts;
}

const setForm = /^(\S+)\s+(in|notin)\s+\(([^()]*)\)$/;
const equalityForm = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/;

function labelRequirement(text: string, whole: string): LabelSelectorRequirement {
  const set = setForm.exec(text);
  if (set !== null) {
    const values = (set[3] as string).split(',').map((value) => value.trim());
    return { key: set[1] as string, operator: set[2] === 'in' ? 'In' : 'NotIn', values };
  }
  const equality = equalityForm.exec(text);
  if (equality !== null) {
    const operator = equality[2] === '!=' ? 'NotIn' : 'In';
    return { key: equality[1] as string, operator, values: [equality[3] as string] };
  }
  if (/^!?\s*[^\s=!()]+$/.test(text)) {
    return text.startsWith('!')
      ? { key: text.slice(1).trim(), operator: 'DoesNotExist' }
      : { key: text, operator: 'Exists' };
  }
  throw unable(whole, `${JSON.stringify(text)} must have one of the forms k, !k, k=v, k!=v, k in (a,b), k notin (a,b)`);
}

/** The labels of an object, without values that are not strings. */
export function labelsOf(object: JsonObject): Record<string, string> {
  return objectAt(object, 'metadata', 'labels') as Record<string, string>;
}

/**
 * Parses the `labelSelector` query parameter.
 *
 * @throws {RequestError} 400 when it is malformed.
 */
export function parseLabelSelector(text: string): Selector {
  if (text.trim() === '') {
    return () => true;
  }
  const matchExpressions = requirementsOf(text).map((part) => labelRequirement(part, text));
  const [problem] = labelSelectorProblems({ matchExpressions }, 1);
  if (problem !== undefined) {
    throw unable(text, problem.message);
  }
  return (object) => selectsLabels({ matchExpressions }, labelsOf(object));
}

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
/** Fields that objects of built-in kinds can be selected by, besides metadata.name and metadata.namespace. */
const selectableFields: Record<string, readonly string[]> = {
  events: [
    ...involved.map((field) => `involvedObject.${field}`),
    'reason',
    'reportingComponent',
    'source.component',
    'type',
  ],
  pods: ['spec.nodeName', 'spec.serviceAccountName', 'status.phase', 'status.podIP'],
  secrets: ['type'],
  namespaces: ['status.phase'],
  'jobs.batch': ['status.successful'],
};

/** Names of fields of events in selectors, where they differ from those in stored ones. */
const storedNames = new Map([
  ['source', 'source.component'],
  ['reportingController', 'reportingComponent'],
  ...involved.map((field) => [`regarding.${field}`, `involvedObject.${field}`] as const),
]);

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
    const asked = match[1] as string;
    const field = (resource.storage === 'events' ? storedNames.get(asked) : undefined) ?? asked;
    const known = ['metadata.name', 'metadata.namespace', ...(selectableFields[resource.storage] ?? [])];
    if (!known.includes(field)) {
      throw badRequest(`field label not supported: ${asked}`);
    }
    return { path: field.split('.'), wants: match[2] !== '!=', value: match[3] as string };
  });
  return (object) =>
    terms.every(({ path, wants, value }) => (String(fieldAt(object, ...path) ?? '') === value) === wants);
}
