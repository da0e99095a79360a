import { hasRules, validateRules } from '../../kubernetes/cel/index.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  isJsonObject,
  itemsAt,
  type JsonObject,
  labelValueProblems,
  objectAt,
  qualifiedNameProblems,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { causeOf, forbiddenField, invalid, required, validateSchema } from '../../kubernetes/schema/index.ts';
import { type KindStrategy, metadataOf, type Resource } from '../resources/resource.ts';

const sentences: Record<'subdomain' | 'label', string> = {
  subdomain:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  label:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
};

function nameProblems(name: string, format: NonNullable<KindStrategy['nameFormat']>): string[] {
  if (format === 'path') {
    const isSegment = name !== '.' && name !== '..' && !/[/%]/.test(name);
    return isSegment ? [] : ["may not be '.' or '..' and may not contain '/' or '%'"];
  }
  const check = format === 'label' ? dns1123LabelProblems : dns1123SubdomainProblems;
  return check(name).map((problem) => (problem.startsWith('must be no more') ? problem : sentences[format]));
}

function* keyCauses(metadata: JsonObject, field: string): Generator<StatusCause> {
  for (const [key, value] of Object.entries(objectAt(metadata, 'labels'))) {
    yield* qualifiedNameProblems(key).map((problem) => invalid(`${field}.labels`, key, problem));
    yield* labelValueProblems(String(value)).map((problem) => invalid(`${field}.labels`, value, problem));
  }
  for (const key of Object.keys(objectAt(metadata, 'annotations'))) {
    yield* qualifiedNameProblems(key.toLowerCase()).map((problem) => invalid(`${field}.annotations`, key, problem));
  }
}

/** Maximum number of bytes of all annotations of an object together (apimachinery, TotalAnnotationSizeLimitB). */
const maxAnnotationBytes = 256 * 1024;

/**
 * The problems with the name, labels, annotations and finalizers of an object; `old` is the metadata before. Their JSON
 * types must be valid.
 */
function* metadataCauses(
  metadata: JsonObject,
  old: JsonObject | undefined,
  format: NonNullable<KindStrategy['nameFormat']>,
): Generator<StatusCause> {
  const { name, annotations, finalizers } = metadata;
  if (typeof name !== 'string' || name === '') {
    yield required('metadata.name', 'name or generateName is required');
  } else {
    for (const problem of nameProblems(name, format)) {
      yield invalid('metadata.name', name, problem);
    }
  }
  yield* keyCauses(metadata, 'metadata');
  const bytes = isJsonObject(annotations)
    ? Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(`${key}${String(value)}`), 0)
    : 0;
  if (bytes > maxAnnotationBytes) {
    const why = `may not be more than ${maxAnnotationBytes} bytes`;
    yield causeOf('FieldValueTooLong', 'metadata.annotations', undefined, why);
  }
  for (const [index, finalizer] of itemsAt(finalizers).entries()) {
    for (const problem of qualifiedNameProblems(String(finalizer))) {
      yield invalid(`metadata.finalizers[${index}]`, finalizer, problem);
    }
  }
  const known = new Set(itemsAt(old, 'finalizers'));
  const added = itemsAt(finalizers).find((finalizer) => !known.has(finalizer));
  if (old?.deletionTimestamp !== undefined && added !== undefined) {
    const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${JSON.stringify(added)}}`;
    yield forbiddenField('metadata.finalizers', why);
  }
}

/** Problems of the object of a definition after which its rules are not evaluated (apiextensions-apiserver, hasBlockingErr). */
const blocking = new Set<string>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

/** The problems of an object that is to be stored; `old` is the one that it replaces. */
export function causesOf(
  { schema, strategy, isCustom }: Resource,
  object: JsonObject,
  old: JsonObject | undefined,
): StatusCause[] {
  const causes = [...metadataCauses(metadataOf(object), old && metadataOf(old), strategy.nameFormat ?? 'subdomain')];
  if (!isCustom) {
    return [...causes, ...validateSchema(object, schema), ...(strategy.validate?.(object, old) ?? [])];
  }
  causes.push(...validateSchema(object, schema));
  return causes.some(({ reason }) => blocking.has(reason))
    ? [...causes, ...(hasRules(schema) ? [unchecked] : [])]
    : [...causes, ...validateRules(object, old, schema)];
}
