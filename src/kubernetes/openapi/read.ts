import { printable } from '../../base/index.ts';
import { onlyValue } from '../manifests/index.ts';
import { isJsonObject, type Json, objectAt, parseJson } from '../objects/json/json.ts';
import { type Schema, validateSchema } from '../schema/index.ts';
import { componentSections } from './components.ts';
import { convertV2ToV3, InvalidOpenApi } from './convert-v2.ts';

function parse(bytes: Buffer): Json {
  const isJson = bytes.subarray(0, 1000).toString('latin1').trimStart().startsWith('{');
  try {
    return isJson ? parseJson(bytes) : onlyValue(new TextDecoder('utf-8', { fatal: true }).decode(bytes), bytes.length);
  } catch (error) {
    const { message } = error as Error;
    throw new InvalidOpenApi(
      isJson ? message.replace(/^the (body|JSON document) /, '') : `is not valid YAML: ${printable(message)}`,
    );
  }
}

const object: Schema = { type: 'object' };
const objects: Schema = { type: 'object', additionalProperties: object };
const sections = Object.fromEntries(componentSections.map((section) => [section, objects]));

/** The parts that merging processes; the rest is copied unchanged. */
const mergeable: Schema = {
  type: 'object',
  properties: { info: object, paths: objects, components: { type: 'object', properties: sections } },
};

/** Reads an OpenAPI document from JSON or YAML; OpenAPI v2 is converted. @throws {InvalidOpenApi} for other versions. */
export function readOpenApi(bytes: Buffer) {
  return openApiOf(parse(bytes));
}

/** Reads a value as an OpenAPI 3.0 document; OpenAPI v2 is converted. @throws {InvalidOpenApi} when it is not one. */
export function openApiOf(value: Json) {
  if (!isJsonObject(value)) {
    throw new InvalidOpenApi('is not an OpenAPI document: it is not an object');
  }
  if (value.swagger !== undefined) {
    return { document: convertV2ToV3(value), isConverted: true };
  }
  if (documentList(value) !== undefined) {
    throw new InvalidOpenApi(
      'is an API server index of documents, not a document: pass the API server, or files with documents',
    );
  }
  const { openapi } = value;
  if (typeof openapi !== 'string') {
    throw new InvalidOpenApi('is not an OpenAPI document: it has no "openapi"');
  }
  if (!/^3\.0\.\d{1,9}(-[\w.]{1,99})?$/.test(openapi)) {
    throw new InvalidOpenApi(
      `is OpenAPI ${printable(JSON.stringify(openapi.slice(0, 20)))}; only OpenAPI 3.0 and 2.0 documents can be merged`,
    );
  }
  const paths = Object.entries(objectAt(value, 'paths')).filter(([path]) => !path.startsWith('x-'));
  const checked = { ...value, ...(isJsonObject(value.paths) && { paths: Object.fromEntries(paths) }) };
  const [problem] = validateSchema(checked, mergeable);
  if (problem !== undefined) {
    const place = printable((problem.field ?? '').slice(0, 300));
    throw new InvalidOpenApi(`is not an OpenAPI document: "${place}" is not an object`);
  }
  const [wrong] = paths.find(([path]) => !path.startsWith('/')) ?? [];
  if (wrong !== undefined) {
    throw new InvalidOpenApi(`has the path ${printable(JSON.stringify(wrong.slice(0, 300)))}, which must begin with /`);
  }
  return { document: value, isConverted: false };
}

/** A document of an API server: `apis/apps/v1`, with the path and query from its root, `/openapi/v3/apis/apps/v1?hash=…`. */
export interface DocumentPlace {
  name: string;
  path: string;
  hash: string | undefined;
}

/** The documents that an API server lists at `/openapi/v3`, by name; undefined for anything but such a list. */
export function documentList(value: Json): DocumentPlace[] | undefined {
  const paths = isJsonObject(value) && value.openapi === undefined ? value.paths : undefined;
  if (!isJsonObject(paths)) {
    return undefined;
  }
  const places: DocumentPlace[] = [];
  for (const [name, entry] of Object.entries(paths)) {
    const path = isJsonObject(entry) ? entry.serverRelativeURL : undefined;
    const url = typeof path === 'string' ? URL.parse(path, 'https://api-server') : null;
    if (typeof path !== 'string' || url?.host !== 'api-server' || !url.pathname.startsWith('/openapi/v3/')) {
      return undefined;
    }
    places.push({ name, path: `${url.pathname}${url.search}`, hash: url.searchParams.get('hash') ?? undefined });
  }
  return places.sort((a, b) => (a.name < b.name ? -1 : 1));
}
