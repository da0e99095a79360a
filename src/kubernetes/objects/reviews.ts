import { type Status, showValue } from './errors/status.ts';
import { isJsonObject, type Json, type JsonObject, textAt } from './json/json.ts';

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
export type Operation = (typeof operations)[number];

/** The fields of AdmissionRequest of admission.k8s.io/v1 that this program uses. */
export interface AdmissionRequest {
  uid: string;
  kind: GroupVersionKind;
  /** Kind of the object as the user sent it; differs from `kind` with matchPolicy Equivalent. */
  requestKind: GroupVersionKind;
  /** Empty for the object itself. */
  subResource: string;
  /** Empty until the API server generates one from generateName. */
  name: string;
  namespace: string;
  operation: Operation;
  username: string;
  /** Absent for DELETE (and CONNECT); not yet decoded. */
  object: JsonObject | undefined;
  /** Present for UPDATE and DELETE; not yet decoded. */
  oldObject: JsonObject | undefined;
  dryRun: boolean;
}

export interface AdmissionResponse {
  uid: string;
  allowed: boolean;
  status?: Pick<Status, 'code'> & Partial<Status>;
  patch?: string;
  patchType?: 'JSONPatch';
  warnings?: string[];
  auditAnnotations?: Record<string, string>;
}

/** What is wrong with a review, for its sender, with the uid if it could be read. */
interface Undecoded {
  problem: string;
  uid: string | undefined;
}

/** Longest uid that is echoed. The API server's have 36 characters; a longer one was not sent by it. */
const maxUidLength = 256;

/** The request in a review of a kind, and its uid; or what is wrong: then the response cannot be a review, either. */
function requestIn(body: Json, apiVersion: string, kind: string): { request: JsonObject; uid: string } | Undecoded {
  const wrong = (problem: string) => ({ problem, uid: undefined });
  if (!isJsonObject(body)) {
    return wrong(`the body must be an object of kind ${kind}`);
  }
  if (body.kind !== kind || body.apiVersion !== apiVersion) {
    return wrong(
      `expected apiVersion "${apiVersion}" and kind "${kind}", got apiVersion ${showValue(body.apiVersion)} and kind ${showValue(body.kind)}`,
    );
  }
  const { request } = body;
  if (!isJsonObject(request)) {
    return wrong('request must be an object');
  }
  const { uid } = request;
  return typeof uid === 'string' && uid !== '' && uid.length <= maxUidLength
    ? { request, uid }
    : wrong(`request.uid must be a string of 1 to ${maxUidLength} characters`);
}

function kindOf(value: Json | undefined): GroupVersionKind | undefined {
  if (!isJsonObject(value) || typeof value.version !== 'string' || typeof value.kind !== 'string') {
    return undefined;
  }
  return { group: textAt(value, 'group'), version: value.version, kind: value.kind };
}

/** Decodes an AdmissionReview (admission.k8s.io/v1). */
export function decodeAdmissionReview(body: Json): { request: AdmissionRequest } | Undecoded {
  const parsed = requestIn(body, 'admission.k8s.io/v1', 'AdmissionReview');
  if ('problem' in parsed) {
    return parsed;
  }
  const { request, uid } = parsed;
  const kind = kindOf(request.kind);
  if (kind === undefined) {
    return { problem: 'request.kind must be an object with group, version and kind', uid };
  }
  const operation = request.operation;
  if (!operations.includes(operation as Operation)) {
    return { problem: `request.operation must be one of ${operations.join(', ')}, got ${showValue(operation)}`, uid };
  }
  for (const field of ['object', 'oldObject'] as const) {
    const value = request[field];
    if (value !== undefined && value !== null && !isJsonObject(value)) {
      return { problem: `request.${field} must be an object or null`, uid };
    }
  }
  return {
    request: {
      uid,
      kind,
      requestKind: kindOf(request.requestKind) ?? kind,
      subResource: textAt(request, 'subResource'),
      name: textAt(request, 'name'),
      namespace: textAt(request, 'namespace'),
      operation: operation as Operation,
      username: textAt(request, 'userInfo', 'username'),
      object: isJsonObject(request.object) ? request.object : undefined,
      oldObject: isJsonObject(request.oldObject) ? request.oldObject : undefined,
      dryRun: request.dryRun === true,
    },
  };
}

/** The review that carries a response back to the API server. */
export const reviewOf = (response: AdmissionResponse) =>
  ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }) as const;

interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: JsonObject[];
}

/** ConversionResponse of apiextensions.k8s.io/v1: the converted objects in the order of the request, or a failure. */
export interface ConversionResponse {
  uid: string;
  convertedObjects: JsonObject[];
  result: { status: 'Success' } | { status: 'Failure'; message: string };
}

/** ConversionReview of apiextensions.k8s.io/v1 that carries a response. */
export interface ConversionReviewResponse {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'ConversionReview';
  response: ConversionResponse;
}

/** Decodes a ConversionReview (apiextensions.k8s.io/v1), without its response. */
export function decodeConversionReview(body: Json): { request: ConversionRequest } | Undecoded {
  const parsed = requestIn(body, 'apiextensions.k8s.io/v1', 'ConversionReview');
  if ('problem' in parsed) {
    return parsed;
  }
  const { request, uid } = parsed;
  const { desiredAPIVersion, objects } = request;
  if (typeof desiredAPIVersion !== 'string') {
    return { problem: `request.desiredAPIVersion must be a string, got ${showValue(desiredAPIVersion)}`, uid };
  }
  if (!Array.isArray(objects)) {
    return { problem: `request.objects must be an array, got ${showValue(objects)}`, uid };
  }
  const wrong = objects.findIndex((object) => !isJsonObject(object));
  if (wrong !== -1) {
    return { problem: `request.objects[${wrong}] must be an object, got ${showValue(objects[wrong])}`, uid };
  }
  return { request: { uid, desiredAPIVersion, objects: objects as JsonObject[] } };
}
