import { load } from 'js-yaml';
import { printable } from '../../base/index.ts';
import { isJsonObject, type Json, type JsonObject, maxJsonDepth, parseJson, setOwn } from '../../kubernetes/index.ts';
import { componentSections } from './components.ts';
import { convertV2ToV3, V2ConversionError } from './convert-v2.ts';

/** Why a value is not a usable OpenAPI document: the message continues after the name of the document. */
export class InvalidOpenApi extends Error {}

/** A document after parsing. */
interface ReadOpenApi {
  /** OpenAPI 3.0. */
  document: JsonObject;
  /** Whether it was converted from OpenAPI v2. */
  isConverted: boolean;
}

/** Maximum number of values of a YAML document, and of characters of its strings, counted once for each alias. */
const maxValues = 5_000_000;
const maxCharacters = 256 * 1024 * 1024;

const tooMany = 'has too many values, or aliases that expand to too many';

/**
 * The number of values in the result of a YAML parser, each counted as often as aliases refer to it; computed before
 * any of them is copied.
 *
 * @param known the sizes of values that have been counted.
 */
function sizeOf(value: unknown, known: Map<unknown, number>, depth = 0): number {
  if (typeof value !== 'object' || value === null) {
    return 1;
  }
  if (depth > maxJsonDepth) {
    throw new InvalidOpenApi(`nests deeper than ${maxJsonDepth} levels`);
  }
  let size = known.get(value);
  if (size === undefined) {
    size = 1;
    for (const item of Object.values(value)) {
      size += sizeOf(item, known, depth + 1);
    }
    known.set(value, size);
  }
  return size;
}

/** A copy of the result of a YAML parser as JSON: without aliases, dates and anything else that JSON lacks. */
function plain(value: unknown, left: { characters: number }, depth = 0): Json {
  if (left.characters < 0) {
    throw new InvalidOpenApi(tooMany);
  }
  if (depth > maxJsonDepth) {
    throw new InvalidOpenApi(`nests deeper than ${maxJsonDepth} levels`);
  }
  if (Array.isArray(value)) {
    return value.map((item) => plain(item, left, depth + 1));
  }
  if (value instanceof Date) {
    return value.toISOString();
  }
  if (typeof value === 'object' && value !== null) {
    const result: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      left.characters -= key.length;
      setOwn(result, key, plain(item, left, depth + 1));
    }
    return result;
  }
  if (typeof value === 'string') {
    left.characters -= value.length;
    return value;
  }
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : null;
}

function parse(bytes: Buffer): Json {
  const start = bytes.subarray(0, 1000).toString('latin1').trimStart();
  if (start.startsWith('{') || start === '') {
    try {
      return parseJson(bytes);
    } catch (error) {
      throw new InvalidOpenApi((error as Error).message.replace(/^the (body|JSON document) /, ''));
    }
  }
  let value: unknown;
  try {
    value = load(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { maxDepth: maxJsonDepth });
  } catch (error) {
    throw new InvalidOpenApi(`is not valid YAML: ${printable((error as Error).message.split('\n')[0] ?? '')}`);
  }
  if (sizeOf(value, new Map()) > maxValues) {
    throw new InvalidOpenApi(tooMany);
  }
  return plain(value, { characters: maxCharacters });
}

/**
 * Reads an OpenAPI document from JSON or YAML; OpenAPI v2 is converted.
 *
 * @throws {InvalidOpenApi} for anything but OpenAPI 3.0 and 2.0.
 */
export function readOpenApi(bytes: Buffer): ReadOpenApi {
  return openApiOf(parse(bytes));
}

/** Reads a value as an OpenAPI document; OpenAPI v2 is converted. @throws {InvalidOpenApi} when it is not one. */
export function openApiOf(value: Json): ReadOpenApi {
  if (!isJsonObject(value)) {
    throw new InvalidOpenApi('is not an OpenAPI document: it is not an object');
  }
  if (value.swagger !== undefined) {
    try {
      return { document: convertV2ToV3(value), isConverted: true };
    } catch (error) {
      if (error instanceof V2ConversionError) {
        throw new InvalidOpenApi(`cannot be converted from OpenAPI v2: ${error.message}`);
      }
      throw error;
    }
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
  checkObjects(value);
  return { document: value, isConverted: false };
}

/** Checks the parts that merging processes; the rest is copied unchanged. @throws {InvalidOpenApi} */
function checkObjects(document: JsonObject): void {
  const objectIn = (parent: JsonObject, field: string, place: string): JsonObject => {
    const value = parent[field];
    if (value !== undefined && !isJsonObject(value)) {
      throw new InvalidOpenApi(`is not an OpenAPI document: "${printable(place.slice(0, 300))}" is not an object`);
    }
    return value ?? {};
  };
  objectIn(document, 'info', 'info');
  const paths = objectIn(document, 'paths', 'paths');
  for (const path of Object.keys(paths)) {
    if (!path.startsWith('x-')) {
      objectIn(paths, path, `paths.${path}`);
      if (!path.startsWith('/')) {
        throw new InvalidOpenApi(
          `has the path ${printable(JSON.stringify(path.slice(0, 300)))}, which must begin with /`,
        );
      }
    }
  }
  const components = objectIn(document, 'components', 'components');
  for (const section of componentSections) {
    const entries = objectIn(components, section, `components.${section}`);
    for (const name of Object.keys(entries)) {
      objectIn(entries, name, `components.${section}.${name}`);
    }
  }
}

/** The location of one document on an API server. */
export interface DocumentPlace {
  /** `apis/apps/v1`, `api/v1`, `version`. */
  name: string;
  /** Path and query from the root of the API server: `/openapi/v3/apis/apps/v1?hash=…`. */
  path: string;
  /** Hash of its content, if the server provides one. */
  hash: string | undefined;
}

/**
 * The documents that an API server lists at `/openapi/v3`, sorted by name.
 *
 * @returns undefined if the value is not a list, or contains a path outside of `/openapi/v3/`.
 */
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
