import type { Admission, AdmissionOutcome } from '../admission/index.ts';
import {
  type AdmissionRequest,
  decodeAdmissionReview,
  failure,
  isJsonObject,
  type Json,
  JsonError,
  parseJson,
  reviewOf,
} from '../kubernetes/index.ts';
import { refusal } from '../server/index.ts';
import type { Convert } from './convert.ts';
import type { Webhook } from './webhook.ts';

/** What metrics and the log are told about an admission review. Never the object: it may hold what is secret. */
export interface ReviewNote extends Pick<AdmissionOutcome, 'verdict' | 'deniedBy' | 'warnedBy' | 'knowledge'> {
  kind: 'review';
  uid: string;
  /** Attributes of the request; absent when the review was malformed. */
  request?: Pick<AdmissionRequest, 'operation' | 'subResource' | 'name' | 'username' | 'dryRun'>;
}

/** What metrics and the log are told about a ConversionReview. */
export interface ConversionNote {
  kind: 'conversion';
  uid: string;
  result: 'Success' | 'Failure';
  /** Why it failed: names the object and the field, not its value. */
  reason?: string;
  desiredAPIVersion?: string;
  /** How many objects were to be converted. */
  objects?: number;
}

/** A decision that ended in an exception: a bug. The stack names code, not values. */
export interface BugNote {
  kind: 'bug';
  error: string;
  stack: string[];
}

/** What came of a body. Plain data, since it may come from another thread. */
export interface Reply {
  /** HTTP status code. */
  code: number;
  /** The JSON text to send. */
  text: string;
  note: ReviewNote | ConversionNote | BugNote | { kind: 'refused' };
}

/** Answers the body of a request to a webhook. Pure but for the clock of its policy, and never throws. */
export type Decide = (webhook: Webhook, body: Uint8Array) => Reply;

/** A refusal of a whole request: a metav1.Status with the HTTP status code of the response. */
export function refused(code: number, message: string): Reply {
  return { code, text: JSON.stringify(refusal(code, message)), note: { kind: 'refused' } };
}

/** Longest name that is logged, in characters: the longest that Kubernetes allows. */
const maxNameLength = 253;
/** Longest reason of a failed conversion that is logged, in characters. */
const maxReasonLength = 1024;

/** The outcome for a review that could be answered, but not decided. */
function malformed(uid: string, problem: string): AdmissionOutcome {
  return {
    response: { uid, allowed: false, status: failure(400, 'BadRequest', problem) },
    verdict: 'malformed',
    deniedBy: [],
    warnedBy: [],
  };
}

function review(body: Json, judge: (request: AdmissionRequest) => AdmissionOutcome): Reply {
  const decoded = decodeAdmissionReview(body);
  if (!('request' in decoded) && decoded.uid === undefined) {
    return refused(400, decoded.problem);
  }
  const request = 'request' in decoded ? decoded.request : undefined;
  const { response, verdict, deniedBy, warnedBy, knowledge } =
    'request' in decoded ? judge(decoded.request) : malformed(decoded.uid as string, decoded.problem);
  const note: ReviewNote = { kind: 'review', uid: response.uid, verdict, deniedBy, warnedBy };
  if (knowledge !== undefined) {
    note.knowledge = knowledge;
  }
  if (request !== undefined) {
    const { operation, subResource, name, username, dryRun } = request;
    note.request = {
      operation,
      subResource: subResource.slice(0, maxNameLength),
      name: name.slice(0, maxNameLength),
      username: username.slice(0, maxNameLength),
      dryRun,
    };
  }
  return { code: 200, text: JSON.stringify(reviewOf(response)), note };
}

function conversion(body: Json, convert: Convert): Reply {
  const converted = convert(body);
  if ('problem' in converted) {
    return refused(400, converted.problem);
  }
  const { uid, result } = converted.review.response;
  const { desiredAPIVersion, objects } = isJsonObject(body) && isJsonObject(body.request) ? body.request : {};
  const note: ConversionNote = {
    kind: 'conversion',
    uid,
    result: result.status,
    ...(result.status === 'Failure' && { reason: result.message.slice(0, maxReasonLength) }),
    ...(typeof desiredAPIVersion === 'string' && { desiredAPIVersion: desiredAPIVersion.slice(0, maxNameLength) }),
    ...(Array.isArray(objects) && { objects: objects.length }),
  };
  return { code: 200, text: JSON.stringify(converted.review), note };
}

function bug(error: unknown): Reply {
  // The API server's failurePolicy says what becomes of the write. The message might hold a piece of the object.
  const stack = error instanceof Error ? error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) : undefined;
  return {
    ...refused(500, 'internal error; the log of extensionconfig-webhook has more'),
    note: { kind: 'bug', error: error instanceof Error ? error.name : typeof error, stack: stack ?? [] },
  };
}

/** Makes the function that answers bodies from an operator's policy. Without `convert` conversions are not answered. */
export function createDecide(admission: Admission, convert: Convert | undefined): Decide {
  return (webhook, bytes) => {
    try {
      const body = parseJson(bytes);
      if (webhook === 'convert') {
        return convert === undefined ? refused(404, 'this server does not convert') : conversion(body, convert);
      }
      return review(body, (request) => admission[webhook](request));
    } catch (error) {
      return error instanceof JsonError ? refused(400, error.message) : bug(error);
    }
  };
}
