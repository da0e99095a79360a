import type { AdmissionOutcome } from '../admission/index.ts';
import type { AdmissionRequest, Json } from '../kubernetes/index.ts';

/** The decision that the server puts on the wire. Synchronous and pure: a throw is a bug and becomes HTTP 500. */
export interface Admission {
  mutate(request: AdmissionRequest): AdmissionOutcome;
  validate(request: AdmissionRequest): AdmissionOutcome;
}

/** Answers a ConversionReview; `problem` says why a body is none, in a sentence for whoever sent it. */
export type Convert = (body: Json) => { review: object } | { problem: string };
