import {
  type AdmissionRequest,
  decodeAdmissionReview,
  failure,
  type Json,
  JsonError,
  objectAt,
  parseJson,
  refusal,
  reviewOf,
} from '../../kubernetes/index.ts';
import type { Admission, AdmissionOutcome, ClusterKnowledge, PendingProbe } from '../../policy/index.ts';
import type { Convert } from './convert.ts';
import type { Webhook } from './webhook.ts';

/** What metrics and the log record about an admission review. Never the object: it may contain secrets. */
export interface ReviewNote extends Pick<AdmissionOutcome, 'verdict' | 'deniedBy' | 'warnedBy' | 'knowledge'> {
  kind: 'review';
  uid: string;
  /** Attributes of the request; absent if the review was malformed. */
  request?: Pick<AdmissionRequest, 'operation' | 'subResource' | 'name' | 'username' | 'dryRun'>;
}

/** What metrics and the log record about a ConversionReview. */
export interface ConversionNote {
  kind: 'conversion';
  uid: string;
  result: 'Success' | 'Failure';
  /** Why it failed: names the object and the field, not its value. */
  reason?: string;
  desiredAPIVersion?: string;
  /** Number of objects to convert. */
  objects?: number;
}

/** A decision that threw an exception, which is a bug. The stack names code, not values. */
interface BugNote {
  kind: 'bug';
  error: string;
  stack: string[];
}

/** The response to a body. Plain data, since it may come from another thread. */
export interface Reply {
  /** HTTP status code. */
  code: number;
  /** The JSON text to send. */
  text: string;
  note: ReviewNote | ConversionNote | BugNote | { kind: 'refused' };
  /**
   * A review that needs facts about the cluster, for the thread that has them; the rest of the reply is then ignored.
   */
  handedBack?: AdmissionRequest;
}

/** Decides on a request whose body was read in another thread. */
export type Judge = (webhook: 'mutate' | 'validate', request: AdmissionRequest) => Reply;

/** Probes an extension server. Never rejects. */
export type Probe = (
  pending: Pick<PendingProbe, 'config' | 'facts'>,
) => Promise<Parameters<PendingProbe['conclude']>[0]>;

/**
 * What is known about the cluster for one request, with the objects that it names as they are now; undefined if it
 * names none that had to be read. Never rejects.
 */
export type Refresh = (request: AdmissionRequest) => Promise<ClusterKnowledge> | undefined;

/**
 * Decides on the body of a request to a webhook: at once, unless objects in the cluster have to be read or an extension
 * server probed. Never throws, and never rejects.
 */
export type Decide = (webhook: Webhook, body: Uint8Array) => Reply | Promise<Reply>;

/** Rejects a whole request, with a metav1.Status and the response's HTTP status code. */
export function refused(code: number, message: string): Reply {
  return { code, text: JSON.stringify(refusal(code, message)), note: { kind: 'refused' } };
}

/** Longest name that is logged, in characters: the longest that Kubernetes allows. */
const maxNameLength = 253;
/** Longest reason for a failed conversion that is logged, in characters. */
const maxReasonLength = 1024;

/** The outcome for a review that is malformed, but whose uid is known. */
function malformed(uid: string, problem: string): AdmissionOutcome {
  return {
    response: { uid, allowed: false, status: failure(400, 'BadRequest', problem) },
    verdict: 'malformed',
    deniedBy: [],
    warnedBy: [],
  };
}

function replyTo(request: AdmissionRequest | undefined, outcome: AdmissionOutcome): Reply {
  const { response, verdict, deniedBy, warnedBy, knowledge } = outcome;
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

/** The reply with an outcome, once the extension server has been probed if it is to be. */
function concluded(
  request: AdmissionRequest,
  outcome: AdmissionOutcome,
  probe: Probe | undefined,
): Reply | Promise<Reply> {
  const reply = replyTo(request, outcome);
  if (outcome.handedBack !== undefined) {
    reply.handedBack = outcome.handedBack;
  }
  const pending = outcome.probe;
  return pending === undefined || probe === undefined
    ? reply
    : probe(pending).then((findings) => (findings.length === 0 ? reply : replyTo(request, pending.conclude(findings))));
}

function review(
  webhook: 'mutate' | 'validate',
  body: Json,
  admission: Admission,
  { probe, refresh }: DecideOptions,
): Reply | Promise<Reply> {
  const decoded = decodeAdmissionReview(body);
  if (!('request' in decoded)) {
    return decoded.uid === undefined
      ? refused(400, decoded.problem)
      : replyTo(undefined, malformed(decoded.uid, decoded.problem));
  }
  const { request } = decoded;
  const refreshed = webhook === 'validate' ? refresh?.(request) : undefined;
  return refreshed === undefined
    ? concluded(request, admission[webhook](request), probe)
    : refreshed.then((known) => concluded(request, admission.validate(request, known), probe));
}

function conversion(body: Json, convert: Convert): Reply {
  const converted = convert(body);
  if ('problem' in converted) {
    return refused(400, converted.problem);
  }
  const { uid, result } = converted.review.response;
  const { desiredAPIVersion, objects } = objectAt(body, 'request');
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
  // The API server's failurePolicy decides about the write. The message might contain part of the object, and its lines
  // might look like code.
  const lines = error instanceof Error ? error.stack?.replace(error.message, '').split('\n') : undefined;
  const stack = lines?.filter((line) => /^\s+at /.test(line));
  return {
    ...refused(500, 'internal error; see the log of extensionconfig-webhook'),
    note: { kind: 'bug', error: error instanceof Error ? error.name : typeof error, stack: stack ?? [] },
  };
}

/** What a decision may wait for. */
export interface DecideOptions {
  /** Without it, extension servers are not probed. */
  probe?: Probe | undefined;
  /** Without it, what is known about the cluster may be older than the request. */
  refresh?: Refresh | undefined;
}

/** Creates the function that decides on bodies, from an operator's policy. Without `convert`, conversions get a 404. */
export function createDecide(admission: Admission, convert: Convert | undefined, options: DecideOptions = {}): Decide {
  return (webhook, bytes) => {
    try {
      const body = parseJson(bytes);
      if (webhook === 'convert') {
        return convert === undefined ? refused(404, 'this server does not convert') : conversion(body, convert);
      }
      const reply = review(webhook, body, admission, options);
      return reply instanceof Promise ? reply.catch(bug) : reply;
    } catch (error) {
      return error instanceof JsonError ? refused(400, error.message) : bug(error);
    }
  };
}

/** Creates the function that decides on requests that were handed back. It does not probe extension servers. */
export function createJudge(admission: Admission): Judge {
  return (webhook, request) => {
    try {
      return replyTo(request, admission[webhook](request));
    } catch (error) {
      return bug(error);
    }
  };
}
