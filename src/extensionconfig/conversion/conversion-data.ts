import {
  ConversionError,
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  parseJson,
} from '../../kubernetes/index.ts';

/** Annotation with the conversion data of an ExtensionConfig: what its current version cannot represent. */
export const conversionDataAnnotation = 'runtime.cluster.x-k8s.io/conversion-data';

/** One step in the path of a kept value: a property, or a list item identified by the values of its keys. */
export type KeptStep = string | JsonObject;

export interface KeptValue {
  path: KeptStep[];
  value: Json;
}

/** The kept values, by the `apiVersion` that can represent them. */
type ConversionData = Map<string, KeptValue[]>;

/** Maximum number of bytes of conversion data: the limit of Kubernetes for all annotations of an object together. */
export const maxConversionDataBytes = 256 * 1024;

function isKeptValue(entry: Json): entry is Json & KeptValue {
  return isJsonObject(entry) && Array.isArray(entry.path) && Object.hasOwn(entry, 'value');
}

function parse(text: Json | undefined): JsonObject | undefined {
  if (typeof text !== 'string' || text.length > maxConversionDataBytes) {
    return undefined;
  }
  try {
    const value = parseJson(Buffer.from(text));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The conversion data of an object; undefined if it has none, or malformed ones, since users can write any text there. */
export function conversionDataOf(object: JsonObject): ConversionData | undefined {
  const data: ConversionData = new Map();
  const versions = parse(fieldAt(object, 'metadata', 'annotations', conversionDataAnnotation));
  for (const [version, entries] of Object.entries(versions ?? {})) {
    if (!Array.isArray(entries) || !entries.every(isKeptValue)) {
      return undefined;
    }
    data.set(version, entries);
  }
  return versions && data;
}

export function conversionDataBytes(object: JsonObject): number {
  const text = fieldAt(object, 'metadata', 'annotations', conversionDataAnnotation);
  return typeof text === 'string' ? Buffer.byteLength(text) : 0;
}

/** The object with other conversion data, if any. @throws {ConversionError} for too long ones. */
export function withConversionData(object: JsonObject, data: ConversionData): JsonObject {
  const metadata = own(object, 'metadata') ?? {};
  const before = isJsonObject(metadata) ? (own(metadata, 'annotations') ?? {}) : null;
  if (!isJsonObject(metadata) || !isJsonObject(before)) {
    throw new ConversionError(['metadata'], 'must be an object, and so must its annotations');
  }
  const { [conversionDataAnnotation]: _, ...annotations } = before;
  if (data.size > 0) {
    const text = JSON.stringify(Object.fromEntries(data));
    const bytes = Buffer.byteLength(text);
    if (bytes > maxConversionDataBytes) {
      throw new ConversionError(
        ['metadata', 'annotations', conversionDataAnnotation],
        `would need ${bytes} bytes to keep what the other version cannot represent; the maximum is ${maxConversionDataBytes}`,
      );
    }
    annotations[conversionDataAnnotation] = text;
  }
  const { annotations: __, ...rest } = metadata;
  return { ...object, metadata: Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest };
}
