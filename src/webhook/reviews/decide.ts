import { bugFields } from '../../base/index.ts';
import {
  type AdmissionRequest,
  type ConversionReviewResponse,
  decodeAdmissionReview,
  type Json,
  JsonError,
  objectAt,
  parseJson,
  refusal,
  reviewOf,
} from '../../kubernetes/index.ts';
import {
  type Admission,
  type AdmissionOutcome,
  type ClusterKnowledge,
  type PendingProbe,
  rejectMalformed,
} from '../../policy/index.ts';

/** The names of the webhooks in metrics and logs. */
export type Webhook = 'mutate' | 'validate' | 'convert';

/** Converts the objects of a ConversionReview; `problem` says, for the sender, why a body is none. */
type Convert = (body: Json) => { review: ConversionReviewResponse } | { problem: string };

/** What metrics and the log record about an admission review. Never the object: it may contain secrets. */
export interface ReviewNote extends Pick<AdmissionOutcome, 'verdict' | 'deniedBy' | 'warnedBy' | 'knowledge'> {
  kind: 'review';
  uid: string;
  /** Attributes of the request; absent if the review was malformed. */
  request?: Pick<AdmissionRequest, 'operation' | 'subResource' | 'name' | 'username' | 'dryRun'>;
}

export interface ConversionNote {
  kind: 'conversion';
  uid: string;
  result: 'Success' | 'Failure';
  /** Why it failed: names the object and the field, not its value. */
  reason?: string;
  desiredAPIVersion?: string;
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
  code: number;
  text: string;
  note: ReviewNote | ConversionNote | BugNote | { kind: 'refused' };
  /** A review that needs facts, for the thread that has them; the rest of the reply is then ignored. */
  handedBack?: AdmissionRequest;
}

/** Probes an extension server. Never rejects. */
export type Probe = (
  pending: Pick<PendingProbe, 'config' | 'facts'>,
) => Promise<Parameters<PendingProbe['conclude']>[0]>;

/** What is known for one request, with the objects that it names; undefined if none had to be read. Never rejects. */
type Refresh = (request: AdmissionRequest) => Promise<ClusterKnowledge> | undefined;

/** Decides on a body; never rejects. When that takes long, `gone` is called: its signal is of a client that has left. */
export type Decide = (webhook: Webhook, body: Uint8Array, gone: () => AbortSignal) => Promise<Reply>;

/** The argument of the module's default export. */
export interface SideThreadTask {
  webhook: Webhook;
  body: Uint8Array;
}

/** Decides on large bodies one after the other, in a thread that starts with the first one. */
export interface SideThread {
  readonly overBytes: number;
  /**
   * The reply for a body; a 503 if there is none in time (waiting for other bodies counts), or if the thread ran out of
   * memory. Never rejects.
   *
   * @param gone aborts the work when the client has disconnected.
   */
  decide(task: SideThreadTask, gone: AbortSignal): Promise<Reply>;
  close(): Promise<void>;
}

export function refuse(code: number, message: string): Reply {
  return { code, text: JSON.stringify(refusal(code, message)), note: { kind: 'refused' } };
}

/** Longest name that is logged, in characters: the longest that Kubernetes allows. */
const maxNameLength = 253;
const maxReasonLength = 1024;

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

/** Decides on a request, once what it needs has been read, and the extension server probed if it is to be. */
async function judge(
  webhook: 'mutate' | 'validate',
  request: AdmissionRequest,
  { admission, refresh, probe }: DecideOptions,
): Promise<Reply> {
  // Nothing is awaited in vain.
  const refreshing = webhook === 'validate' ? refresh?.(request) : undefined;
  const outcome = admission[webhook](request, refreshing && (await refreshing));
  const pending = outcome.probe;
  const findings = pending === undefined || probe === undefined ? [] : await probe(pending);
  const reply = replyTo(request, pending === undefined || findings.length === 0 ? outcome : pending.conclude(findings));
  return outcome.handedBack === undefined ? reply : { ...reply, handedBack: outcome.handedBack };
}

function review(webhook: 'mutate' | 'validate', body: Json, options: DecideOptions): Reply | Promise<Reply> {
  const decoded = decodeAdmissionReview(body);
  if ('request' in decoded) {
    return judge(webhook, decoded.request, options);
  }
  return decoded.uid === undefined
    ? refuse(400, decoded.problem)
    : replyTo(undefined, rejectMalformed(decoded.uid, decoded.problem));
}

function conversion(body: Json, convert: Convert): Reply {
  const converted = convert(body);
  if ('problem' in converted) {
    return refuse(400, converted.problem);
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

function reportBug(error: unknown): Reply {
  // The API server's failurePolicy decides about the write.
  return {
    ...refuse(500, 'internal error; see the log of extensionconfig-webhook'),
    note: { kind: 'bug', ...bugFields(error) },
  };
}

export interface DecideOptions {
  admission: Admission;
  /** Without it, conversions get a 404. */
  convert?: Convert | undefined;
  /** Without it, extension servers are not probed. */
  probe?: Probe | undefined;
  /** Without it, what is known about the cluster may be older than the request. */
  refresh?: Refresh | undefined;
  /** Decides on large bodies, by the same policy; without it, the event loop does. */
  sideThread?: SideThread | undefined;
}

export function createDecide(options: DecideOptions): Decide {
  const { convert, sideThread } = options;
  return async (webhook, bytes, gone) => {
    try {
      if (sideThread !== undefined && bytes.length > sideThread.overBytes) {
        const reply = await sideThread.decide({ webhook, body: bytes }, gone());
        // Extension servers are not probed for large bodies.
        return reply.handedBack === undefined
          ? reply
          : await judge('validate', reply.handedBack, { ...options, probe: undefined });
      }
      const body = parseJson(bytes);
      if (webhook !== 'convert') {
        return await review(webhook, body, options);
      }
      return convert === undefined ? refuse(404, 'this server does not convert') : conversion(body, convert);
    } catch (error) {
      return error instanceof JsonError ? refuse(400, error.message) : reportBug(error);
    }
  };
}
