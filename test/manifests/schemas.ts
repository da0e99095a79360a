import * as client from '@kubernetes/client-node';
import * as admissionregistration from 'kubernetes-models/admissionregistration.k8s.io/v1';
import * as apiextensions from 'kubernetes-models/apiextensions.k8s.io/v1';
import * as apps from 'kubernetes-models/apps/v1';
import * as batch from 'kubernetes-models/batch/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as rbac from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import * as scheduling from 'kubernetes-models/scheduling.k8s.io/v1';
import * as core from 'kubernetes-models/v1';
import type { Manifest } from './kustomization.ts';

type Validating = new (object: never) => { validate(): void };

/** Kubernetes' own OpenAPI schemas, compiled: types and required fields. */
const schemas: Record<string, Record<string, unknown>> = {
  v1: core,
  'admissionregistration.k8s.io/v1': admissionregistration,
  'apiextensions.k8s.io/v1': apiextensions,
  'apps/v1': apps,
  'batch/v1': batch,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  'rbac.authorization.k8s.io/v1': rbac,
  'scheduling.k8s.io/v1': scheduling,
};

/** Kinds that Kubernetes does not have itself: nothing here knows their schemas. */
export const foreignKinds = new Set(['Issuer', 'Certificate', 'ServiceMonitor', 'PrometheusRule']);

interface Attribute {
  baseName: string;
  type: string;
}

const models = client as unknown as Record<string, { getAttributeTypeMap?: () => Attribute[] } | undefined>;

/** The fields that an object has and the client's model of its type (generated from the same schemas) has not. */
function* unknownFields(value: unknown, type: string, path: string): Generator<string> {
  const list = /^Array<(.*)>$/.exec(type)?.[1];
  if (list !== undefined && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* unknownFields(item, list, `${path}[${index}]`);
    }
    return;
  }
  const attributes = models[type]?.getAttributeTypeMap?.();
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

/** What is wrong with an object by Kubernetes' schemas, unknown fields included. Empty when nothing is. */
export function schemaProblems(object: Manifest): string[] {
  const Model = schemas[object.apiVersion]?.[object.kind] as Validating | undefined;
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
