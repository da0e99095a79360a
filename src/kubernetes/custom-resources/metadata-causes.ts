import type { StatusCause } from '../objects/errors/status.ts';
import { isJsonObject, itemsAt, type JsonObject, objectAt } from '../objects/json/json.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  inWordsOfKubernetes,
  labelValueProblems,
  qualifiedNameProblems,
} from '../objects/names.ts';
import { causeOf, forbiddenField, invalid, required } from '../schema/index.ts';

export type NameFormat = 'subdomain' | 'label' | 'path';

function nameProblems(name: string, format: NameFormat): readonly string[] {
  if (format === 'path') {
    const isSegment = name !== '.' && name !== '..' && !/[/%]/.test(name);
    return isSegment ? [] : ["may not be '.' or '..' and may not contain '/' or '%'"];
  }
  return format === 'label' ? dns1123LabelProblems(name) : dns1123SubdomainProblems(name);
}

/** A cause for each problem of a name, in Kubernetes' words, after `before`. */
export const invalidNames = (field: string, name: unknown, problems: readonly string[], before = ''): StatusCause[] =>
  problems.map((problem) => invalid(field, name, `${before}${inWordsOfKubernetes(problem)}`));

/** The problems with the labels of metadata at `field`, and with the keys of its annotations. */
export function* keyCauses(metadata: JsonObject, field: string): Generator<StatusCause> {
  for (const [key, value] of Object.entries(objectAt(metadata, 'labels'))) {
    yield* invalidNames(`${field}.labels`, key, qualifiedNameProblems(key));
    yield* invalidNames(`${field}.labels`, value, labelValueProblems(String(value)));
  }
  for (const key of Object.keys(objectAt(metadata, 'annotations'))) {
    yield* invalidNames(`${field}.annotations`, key, qualifiedNameProblems(key.toLowerCase()));
  }
}

/** Maximum number of bytes of all annotations of an object together (apimachinery, TotalAnnotationSizeLimitB). */
const maxAnnotationBytes = 256 * 1024;

/** The problems with the name, labels, annotations and finalizers of metadata with valid JSON types; `old` is that before. */
export function* metadataCauses(
  metadata: JsonObject,
  old: JsonObject | undefined,
  format: NameFormat = 'subdomain',
): Generator<StatusCause> {
  const { name, annotations, finalizers } = metadata;
  if (typeof name !== 'string' || name === '') {
    yield required('metadata.name', 'name or generateName is required');
  } else {
    yield* invalidNames('metadata.name', name, nameProblems(name, format));
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
