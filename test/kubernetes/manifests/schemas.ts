import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Manifest } from './kustomization.ts';

const require = createRequire(import.meta.url);
/** By its path: the package exports its modules only for import, which is asynchronous, not for require. */
const schemas = fileURLToPath(new URL('../../../node_modules/kubernetes-models/', import.meta.url));

type Validating = new (object: never) => { validate(): void };

/** Kinds that are not part of Kubernetes: no schemas are available here. */
export const foreignKinds = new Set(['Issuer', 'Certificate', 'ServiceMonitor', 'PrometheusRule']);

interface Attribute {
  baseName: string;
  type: string;
}

/**
 * What a module exports under a name: each kind has a module of its own, and all of them together take half a second to
 * load.
 */
function exported<T>(module: string, name: string): T | undefined {
  try {
    return (require(module) as Record<string, T>)[name];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') {
      return undefined;
    }
    throw error;
  }
}

/** The client's model of a type; undefined if it is not a type of Kubernetes. */
function modelOf(type: string): { getAttributeTypeMap(): Attribute[] } | undefined {
  return /^V\d\w+$/.test(type) ? exported(`@kubernetes/client-node/dist/gen/models/${type}.js`, type) : undefined;
}

/** The fields of an object that the client's model of its type (generated from the same schemas) does not have. */
function* unknownFields(value: unknown, type: string, path: string): Generator<string> {
  const list = /^Array<(.*)>$/.exec(type)?.[1];
  if (list !== undefined && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* unknownFields(item, list, `${path}[${index}]`);
    }
    return;
  }
  const attributes = modelOf(type)?.getAttributeTypeMap();
  if (attributes === undefined || typeof value !== 'object' || value === null) {
    return;
  }
  for (const [field, inner] of Object.entries(value)) {
    const attribute = attributes.find(({ baseName }) => baseName === field);
    if (attribute === undefined) {
      yield `${path}.${field}`;
    } else {
      yield* unknownFields(inner, attribute.type, `${path}.${field}`);
    }
  }
}

/** The errors of an object by Kubernetes' schemas, unknown fields included. Empty if it is valid. */
export function schemaProblems(object: Manifest): string[] {
  // Kubernetes' own OpenAPI schemas, compiled: types and required fields.
  const Model = exported<Validating>(`${schemas}${object.apiVersion}/${object.kind}.js`, object.kind);
  if (Model === undefined) {
    return [`${object.apiVersion} ${object.kind} is not a kind of Kubernetes`];
  }
  const problems = [...unknownFields(object, `V1${object.kind}`, object.kind)].map((field) => `${field} is unknown`);
  try {
    new Model(object as never).validate();
  } catch (error) {
    problems.push((error as Error).message);
  }
  return problems;
}
